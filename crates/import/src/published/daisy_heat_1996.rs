//! lmbench on the DAISy and HEAT clusters, beside what McVoy and Staelin published.

use super::machines::{Entry, Machines};
use super::table::Row;
use super::{Evaluation, Tables};
use crate::Error;
use crate::sheet::{Reading, bytes_per_second, seconds};

macro_rules! table {
    ($name:literal, $title:literal) => {
        super::table::Embedded {
            name: $name,
            title: $title,
            text: include_str!(concat!("../../../../published/daisy-heat-1996/", $name, ".csv")),
        }
    };
}

pub(super) static EVALUATION: Evaluation = Evaluation {
    name: "daisy-heat-1996",
    title: "lmbench on the DAISy and HEAT clusters beside the published machines",
    attribution: "lmbench results of the DAISy and HEAT clusters beside those that McVoy and Staelin published \
                  (USENIX 1996), sections 6.6.1.2 to 6.6.2.1",
    date: "1996-01-01T00:00:00Z",
    tables: &[
        table!("table8_bw_pipe", "Pipe bandwidth"),
        table!("table9_bw_tcp", "TCP bandwidth, local and remote"),
        table!("table10_cached_io", "Reread of cached files"),
        table!("table11_memory_latency", "Memory latency"),
    ],
    read,
};

fn read(tables: &Tables) -> Result<Machines, Error> {
    let mut machines = Machines::default();
    for row in tables.get("table8_bw_pipe")?.rows() {
        let entry = describe(&mut machines, &row);
        megabytes(entry, &row, "bw_pipe_mb_s", "ipc.pipe_bandwidth", "");
    }
    for row in tables.get("table10_cached_io")?.rows() {
        let entry = describe(&mut machines, &row);
        megabytes(entry, &row, "bw_file_rd_mb_s", "file.read_cached", "data=touched");
        megabytes(entry, &row, "bw_mmap_rd_mb_s", "file.mmap_read", "");
    }
    for row in tables.get("table11_memory_latency")?.rows() {
        let entry = describe(&mut machines, &row);
        if let Some(nanos) = row.number("lat_mem_rd_ns") {
            let reading = Reading::new("memory.load_latency_strided", "lat_mem_rd", nanos * 1e-9, seconds("load"));
            let reading = reading.printed(row.text("lat_mem_rd_ns"));
            entry.add(reading.note("main memory; stride and working set are not printed with the table"));
        }
    }
    tcp(tables, &mut machines)?;
    Ok(machines)
}

/// Table 9 has a row for each network of a machine; the local figure is of the loopback and takes the network as an axis
/// only where a machine has several rows.
fn tcp(tables: &Tables, machines: &mut Machines) -> Result<(), Error> {
    let table = tables.get("table9_bw_tcp")?;
    for row in table.rows() {
        let same = |other: &Row<'_>| key(other) == key(&row) && other.number("bw_tcp_local_mb_s").is_some();
        let several = table.rows().filter(same).count() > 1;
        let network = row.text("network");
        let entry = describe(machines, &row);
        if let Some(rate) = row.number("bw_tcp_local_mb_s") {
            let reading = Reading::new("ipc.tcp_bandwidth", "bw_tcp local", rate * 1e6, bytes_per_second("bytes"));
            let reading = reading.printed(row.text("bw_tcp_local_mb_s"));
            let reading = reading.note(format!("over the loopback, in the row of network {network}"));
            entry.add(if several { reading.at("network", network) } else { reading });
        }
        if let Some(rate) = row.number("bw_tcp_remote_mb_s") {
            let metric = bytes_per_second("bytes");
            let reading = Reading::new("lmbench.bw_tcp_remote", "bw_tcp to another host", rate * 1e6, metric);
            entry.add(reading.printed(row.text("bw_tcp_remote_mb_s")).at("network", network));
        }
    }
    Ok(())
}

fn megabytes(entry: &mut Entry, row: &Row<'_>, column: &str, id: &str, point: &str) {
    if let Some(rate) = row.number(column) {
        let reading = Reading::new(id, column, rate * 1e6, bytes_per_second("bytes"));
        let reading = reading.printed(row.text(column));
        entry.add(Reading { point: point.parse().unwrap_or_default(), ..reading });
    }
}

/// Table 8 prints `IBM Power PC` for what tables 10 and 11 call `IBM PowerPC`.
fn key(row: &Row<'_>) -> (String, String) {
    (row.text("system").replace("Power PC", "PowerPC"), row.text("group").to_owned())
}

fn describe<'a>(machines: &'a mut Machines, row: &Row<'_>) -> &'a mut Entry {
    let (system, group) = key(row);
    let label = if group == "published" { system.clone() } else { format!("{system} ({group})") };
    let entry = machines.of(&format!("{system}|{group}"), &label);
    entry.sheet.summary.clone_from(&label);
    let cluster = if group == "published" { "none: published by the authors of lmbench" } else { &group };
    entry.says("cluster", cluster, "printed", &[]);
    entry
}
