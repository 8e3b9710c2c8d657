//! Choutko and Klimentov, "AMS02 Software and Hardware Evaluation".

use model::{Metric, Primitive, Unit};

use super::machines::{Entry, Machines, clock};
use super::table::Row;
use super::{Evaluation, Tables};
use crate::Error;
use crate::sheet::{Reading, bytes_per_second, seconds};

macro_rules! table {
    ($name:literal, $title:literal) => {
        super::table::Embedded {
            name: $name,
            title: $title,
            text: include_str!(concat!("../../../../published/ams02-2002/", $name, ".csv")),
        }
    };
}

pub(super) static EVALUATION: Evaluation = Evaluation {
    name: "ams02-2002",
    title: "AMS02 software and hardware evaluation: physics programs on eleven machines",
    attribution: "V. Choutko, A. Klimentov, \"AMS02 Software and Hardware Evaluation\", AMS Internal Note 2001-11-01, \
                  updated 29 January 2002",
    date: "2002-01-29T00:00:00Z",
    tables: &[
        table!("table1_raw", "Times of tests 1 to 4"),
        table!("table2_normalised", "Table 1 divided by the row of the Intel PIII 933 MHz, as printed"),
        table!("table3_sim_rec_normalised", "Simulation and reconstruction relative to the Intel PII 450 MHz"),
        table!("table4_geometric_average", "Geometric mean of tests 1 to 4, AMD Athlon 1800MP = 100%"),
        table!("table5_interactive_analysis", "Interactive analysis by many sessions"),
        table!("table6_tape_streaming", "Tape streaming"),
        table!("facts", "Other numbers of the note"),
    ],
    read,
};

const TESTS: [(&str, &str); 4] = [("test1", "Test 1"), ("test2", "Test 2"), ("test3", "Test 3"), ("test4", "Test 4")];
const NORMALISED: [(&str, &str); 2] = [("sim", "Simulation"), ("rec", "Reconstruction")];
const SOURCE: &str = "printed";

fn read(tables: &Tables) -> Result<Machines, Error> {
    let mut machines = Machines::default();
    for row in tables.get("table1_raw")?.rows() {
        let entry = described(&mut machines, &row);
        for (column, title) in TESTS {
            let Some(value) = row.number(column) else { continue };
            let reading = Reading::new(format!("ams02.{column}"), title, value, seconds("test"));
            entry.add(
                reading
                    .printed(row.text(column))
                    .note("the unit of the time is not printed; seconds are assumed, ratios do not depend on it"),
            );
        }
    }
    for row in tables.get("table3_sim_rec_normalised")?.rows() {
        let odd = row.text("machine").ends_with("(Linux cxx)");
        let entry = described(&mut machines, &row);
        for (column, title) in NORMALISED {
            let Some(value) = row.number(column) else { continue };
            let metric = Metric::lower(Unit::Ratio, "time of the Intel PII dual-CPU 450 MHz");
            let mut reading = Reading::new(format!("ams02.{column}"), title, value, metric).printed(row.text(column));
            if odd {
                reading = reading.note("nearly twice the same machine's other two rows: kept as printed");
            }
            entry.add(reading);
        }
    }
    interactive(tables, &mut machines)?;
    tape(tables, &mut machines)?;
    facts(tables, &mut machines)?;
    Ok(machines)
}

fn described<'a>(machines: &'a mut Machines, row: &Row<'_>) -> &'a mut Entry {
    let name = row.text("machine");
    let entry = machines.of(name, name);
    let software = row.text("os_compiler");
    let (system, compiler) = split_compiler(software);
    entry.says("os.name", system, SOURCE, &[]);
    entry.says("compiler", compiler, SOURCE, &[]);
    entry.sheet.summary = software.to_owned();
    if let Some(hertz) = clock(name) {
        entry.counts("cpu.clock", hertz, "Hz", "name of the machine", &[Primitive::CoreClock]);
    }
    if let Some(count) = count(name) {
        entry.counts("cpu.count", count, "1", "name of the machine", &[]);
    }
    entry
}

/// `RH Linux 6.2/gcc 2.95`, `DigitalUnix 4.0D cxx 6.2`, `Solaris 9 S9-53 C++ 5.2`.
fn split_compiler(software: &str) -> (&str, &str) {
    let spaced = || [" cxx", " C++"].iter().find_map(|word| software.find(word)).map(|at| software.split_at(at));
    let (system, compiler) = software.split_once('/').or_else(spaced).unwrap_or((software, ""));
    (system.trim(), compiler.trim())
}

fn count(name: &str) -> Option<f64> {
    if name.contains("dual-CPU") {
        return Some(2.0);
    }
    if name.contains("quad-CPU") {
        return Some(4.0);
    }
    name.split(" CPU").next().filter(|before| before.len() < name.len())?.split(' ').next_back()?.parse().ok()
}

fn interactive(tables: &Tables, machines: &mut Machines) -> Result<(), Error> {
    for row in tables.get("table5_interactive_analysis")?.rows() {
        let name = row.text("machine");
        let entry = machines.of(name, name);
        entry.says("os.name", row.text("os"), SOURCE, &[]);
        let at = |reading: Reading, column: &str| {
            let reading =
                reading.printed(row.text(column)).at("sessions", row.text("sessions")).at("files", row.text("files"));
            reading.at("data", format!("{}GB", row.text("data_gb")))
        };
        if let Some(percent) = row.number("cpu_util_percent_per_process") {
            let metric = Metric::higher(Unit::Ratio, "CPU time a process");
            let reading =
                Reading::new("ams02.session_cpu", "CPU share of one of many sessions", percent / 100.0, metric);
            entry.add(at(reading, "cpu_util_percent_per_process"));
        }
        if let Some(rate) = row.number("disk_io_mb_s") {
            let metric = bytes_per_second("bytes read");
            let reading = Reading::new("ams02.session_disk", "Disk rate of many sessions", rate * 1e6, metric);
            entry.add(at(reading, "disk_io_mb_s"));
        }
    }
    Ok(())
}

fn tape(tables: &Tables, machines: &mut Machines) -> Result<(), Error> {
    for row in tables.get("table6_tape_streaming")?.rows() {
        let entry = machines.of("tape", "LTO tape and RAID5");
        let mode = row.text("mode");
        let id = if mode.starts_with("write") { "file.sequential_write" } else { "file.sequential_read" };
        let Some(rate) = row.number("rate_mb_s") else { continue };
        let format = if row.text("command") == "tar" { "tar" } else { "plain" };
        let note = format!("{mode}, by {}, which counts blocks in KiB", row.text("command"));
        let reading = Reading::new(id, mode, rate * 1e6, bytes_per_second("bytes")).note(note);
        let reading = reading.printed(row.text("rate_mb_s"));
        let block = format!("{}KiB", row.text("block_size_kb"));
        entry.add(reading.at("block", block).at("format", format).at("medium", "target"));
    }
    Ok(())
}

fn facts(tables: &Tables, machines: &mut Machines) -> Result<(), Error> {
    let facts = tables.get("facts")?;
    let power = facts.rows().find(|row| row.text("fact") == "power of the Athlon node");
    let athlon = machines.entries.iter_mut().find(|entry| entry.label == "AMD Athlon 1800MP dual-CPU 1.53 GHz");
    if let Some((watts, entry)) = power.and_then(|row| row.number("value")).zip(athlon) {
        entry.counts("power.node", watts, "W", "facts of the note", &[]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_systems_compilers_and_counts() {
        assert_eq!(split_compiler("RH Linux 6.2/gcc 2.95"), ("RH Linux 6.2", "gcc 2.95"));
        assert_eq!(split_compiler("DigitalUnix 4.0D cxx 6.2"), ("DigitalUnix 4.0D", "cxx 6.2"));
        assert_eq!(split_compiler("Solaris 9 S9-53 C++ 5.2"), ("Solaris 9 S9-53", "C++ 5.2"));
        assert_eq!(count("Sun-Fire 880 8 CPU 750 MHz"), Some(8.0));
        assert_eq!(count("AMD Athlon 1.2 GHz"), None);
    }
}
