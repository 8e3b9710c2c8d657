//! Pavel, Millsom, Huffer and Day, "Network Performance Testing for the BABAR Event Builder".

use model::{Metric, Primitive, Unit};

use super::machines::Machines;
use super::table::Row;
use super::{Evaluation, Tables};
use crate::Error;
use crate::sheet::{Reading, Spread, bytes_per_second, rate};

macro_rules! table {
    ($name:literal, $title:literal) => {
        super::table::Embedded {
            name: $name,
            title: $title,
            text: include_str!(concat!("../../../../published/babar-network-1998/", $name, ".csv")),
        }
    };
}

pub(super) static EVALUATION: Evaluation = Evaluation {
    name: "babar-network-1998",
    title: "Network of the BaBar event builder: machines, switches and design figures",
    attribution: "T. J. Pavel, D. Millsom, M. E. Huffer, C. T. Day, \"Network Performance Testing for the BABAR Event \
                  Builder\", CHEP 98",
    date: "1998-01-01T00:00:00Z",
    tables: &[
        table!("table1_machines", "Machines"),
        table!("table2_switch_buffering", "Buffers of the switches"),
        table!("facts", "Design figures of the event builder"),
    ],
    read,
};

const BUILDER: &str = "event builder";

/// Measured values among the facts: beginning of the printed words, id and point.
const MEASURED: &[(&str, &str, &str)] = &[
    ("full-duplex Fast Ethernet plateau", "babar_network.stream", "network=fast_ethernet,duplex=full"),
    ("ATM classical IP plateau (low)", "babar_network.stream", "network=atm_classical_ip"),
    ("packets lost of 60000", "babar_network.loss", "senders=4,window=64kB"),
];

fn read(tables: &Tables) -> Result<Machines, Error> {
    let mut machines = Machines::default();
    let entry = machines.of(BUILDER, BUILDER);
    entry.sheet.summary = "22 senders, 15 receivers, Fast Ethernet and ATM switches".to_owned();
    let facts = tables.get("facts")?;
    let high = facts.rows().find(|row| row.text("fact") == "ATM classical IP plateau (high)");
    for row in facts.rows() {
        let Some(value) = row.number("value") else { continue };
        let words = row.text("fact");
        entry.counts(words, value, row.text("unit"), "facts of the paper", &[Primitive::NetworkLink]);
        if let Some((_, id, point)) = MEASURED.iter().find(|(name, _, _)| words.starts_with(name)) {
            let mut reading = measured(id, value, &row, high.and_then(|row| row.number("value")));
            reading.point = point.parse().unwrap_or_default();
            entry.add(reading.printed(row.text("value")).note(format!("printed as \"{words}\"")));
        }
        if words == "trigger rate" {
            let reading = Reading::new("babar_network.events", "Events built", value, rate("events"));
            entry.add(reading.printed(row.text("value")).note("the design figure"));
        }
    }
    for row in tables.get("table2_switch_buffering")?.rows() {
        let name = format!("switch.{}.buffers", row.text("switch"));
        entry.says(&name, row.text("buffering"), "table 2", &[Primitive::NetworkLink]);
    }
    let memory = facts.rows().find(|row| row.text("fact").starts_with("IBM 43P total memory"));
    for row in tables.get("table1_machines")?.rows() {
        machine(&mut machines, &row, memory.and_then(|row| row.number("value")));
    }
    Ok(machines)
}

fn measured(id: &str, value: f64, row: &Row<'_>, high: Option<f64>) -> Reading {
    if row.text("unit") == "packets" {
        return Reading::new(id, "Packets lost", value / 60_000.0, Metric::lower(Unit::Ratio, "packets sent"));
    }
    let metric = bytes_per_second("bytes");
    match high.filter(|_| row.text("fact").ends_with("(low)")) {
        Some(high) => Reading::new(id, "Stream", (value + high) / 2.0 * 1e6, metric)
            .spread(Spread::Range(value * 1e6, high * 1e6))
            .note("printed as a range; the value is its middle"),
        None => Reading::new(id, "Stream", value * 1e6, metric),
    }
}

fn machine(machines: &mut Machines, row: &Row<'_>, memory: Option<f64>) {
    let label = row.text("label");
    let entry = machines.of(label, label);
    entry.sheet.summary = format!("{}, {}", row.text("hardware"), row.text("software"));
    entry.says("system.model", row.text("model"), "table 1", &[]);
    entry.says("cpu.model", row.text("hardware"), "table 1", &[Primitive::CoreClock]);
    entry.says("os.name", row.text("software"), "table 1", &[]);
    entry.says("network.interface", row.text("network_interface"), "table 1", &[Primitive::NetworkLink]);
    if let Some(hertz) = super::machines::clock(row.text("hardware")) {
        entry.counts("cpu.clock", hertz, "Hz", "table 1", &[Primitive::CoreClock]);
    }
    if let Some(rate) = memory.filter(|_| label == "IBM 43P") {
        entry.counts("memory.bandwidth", rate * 1e6, "B/s", "facts of the paper", &[Primitive::DramRead]);
    }
}
