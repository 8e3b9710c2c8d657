//! CyberLife Labs: two near-identical FreeBSD machines, BYTE benchmark and RAMspeed.

use model::{KIB, Primitive, format_size};

use super::machines::{Entry, Machines, clock};
use super::table::Row;
use super::{Evaluation, Tables};
use crate::Error;
use crate::sheet::{Reading, bytes_per_second, rate};

macro_rules! table {
    ($name:literal, $title:literal) => {
        super::table::Embedded {
            name: $name,
            title: $title,
            text: include_str!(concat!("../../../../published/cyberlife-2004/", $name, ".csv")),
        }
    };
}

pub(super) static EVALUATION: Evaluation = Evaluation {
    name: "cyberlife-2004",
    title: "Two near-identical FreeBSD machines, one of them slow: BYTE benchmark and RAMspeed",
    attribution: "CyberLife Labs, notes on two near-identical FreeBSD machines, updated 31 January 2004",
    date: "2004-01-31T00:00:00Z",
    tables: &[
        table!("byte_benchmark", "BYTE benchmark"),
        table!("ramspeed", "RAMspeed by block size; reading first, writing second by their size"),
        table!("configuration", "Configuration of the two machines"),
    ],
    read,
};

const MACHINES: [&str; 2] = ["appserver.geo", "beastie.lab"];

/// What a test's row continues: beginning of its printed name, our id and point.
const TESTS: &[(&str, &str, &str)] = &[
    ("Dhrystone 2 without register", "cpu.dhrystone", "registers=no"),
    ("Dhrystone 2 using register", "cpu.dhrystone", "registers=yes"),
    ("Arithmetic Test (type = arithoh)", "cpu.arithmetic", "type=overhead"),
    ("Arithmetic Test (type = register)", "cpu.arithmetic", "type=register"),
    ("Arithmetic Test (type = short)", "cpu.arithmetic", "type=short"),
    ("Arithmetic Test (type = int)", "cpu.arithmetic", "type=int"),
    ("Arithmetic Test (type = long)", "cpu.arithmetic", "type=long"),
    ("Arithmetic Test (type = float)", "cpu.arithmetic", "type=float"),
    ("Arithmetic Test (type = double)", "cpu.arithmetic", "type=double"),
    ("System Call Overhead", "os.syscall_mix", ""),
    ("Pipe Throughput", "ipc.pipe_throughput", ""),
    ("Pipe-based Context Switching", "os.pipe_switch", "placement=free"),
    ("Process Creation", "os.fork_exit", ""),
    ("Execl Throughput", "os.exec", ""),
    ("File Read (10 seconds)", "file.read", "seconds=10"),
    ("File Write (10 seconds)", "file.write", "seconds=10"),
    ("File Copy (10 seconds)", "file.copy", "seconds=10"),
    ("File Read (30 seconds)", "file.read", "seconds=30"),
    ("File Write (30 seconds)", "file.write", "seconds=30"),
    ("File Copy (30 seconds)", "file.copy", "seconds=30"),
    ("C Compiler", "shell.compile", ""),
    ("Shell scripts (1 ", "shell.script", "concurrent=1"),
    ("Shell scripts (2 ", "shell.script", "concurrent=2"),
    ("Shell scripts (4 ", "shell.script", "concurrent=4"),
    ("Shell scripts (8 ", "shell.script", "concurrent=8"),
    ("Dc: sqrt(2)", "shell.dc", ""),
    ("Recursion Test", "cpu.hanoi", ""),
];

const ORDER: &str = "the column has no printed heading: by their size the first is taken as reading, the second as \
                     writing; MB/s although the text says KB/s; which test it is is not printed: its integer test is assumed";

fn read(tables: &Tables) -> Result<Machines, Error> {
    let mut machines = Machines::default();
    for name in MACHINES {
        let entry = machines.of(name, name);
        entry.note(
            "the page itself says of file write and copy: with the faster disk forced to the slower disk's mode, \
             these figures became identical",
        );
        for row in tables.get("configuration")?.rows() {
            configure(entry, row.text("component"), row.text(name));
        }
        for row in tables.get("byte_benchmark")?.rows() {
            if let Some(reading) = byte(&row, name) {
                entry.add(reading);
            }
        }
        for row in tables.get("ramspeed")?.rows() {
            let Some(size) = row.number("block_size_kb") else { continue };
            let size = format_size(size as u64 * KIB);
            for (id, column) in [("memory.read", "first"), ("memory.write", "second")] {
                let column = format!("{name}_{column}");
                let Some(value) = row.number(&column) else { continue };
                let reading = Reading::new(id, "RAMspeed", value * 1e6, bytes_per_second("bytes"));
                let reading = reading.printed(row.text(&column));
                entry
                    .add(reading.at("working_set", size.clone()).at("threads", "1").at("width", "integer").note(ORDER));
            }
        }
    }
    Ok(machines)
}

fn byte(row: &Row<'_>, machine: &str) -> Option<Reading> {
    let test = row.text("test");
    let (_, id, point) = TESTS.iter().find(|(name, _, _)| test.starts_with(name))?;
    let value = row.number(machine)?;
    let printed = format!("printed as \"{test}\" in {}", row.text("unit"));
    let mut reading = match row.text("unit") {
        "KBps" => Reading::new(*id, test, value * 1e3, bytes_per_second("bytes"))
            .note("a KB is taken as 1000 bytes; the program's own source counts 1024"),
        "lpm" => Reading::new(*id, test, value / 60.0, rate("loops")),
        _ => Reading::new(*id, test, value, rate("loops")),
    };
    reading.point = point.parse().unwrap_or_default();
    Some(reading.printed(row.text(machine)).note(printed))
}

fn configure(entry: &mut Entry, component: &str, value: &str) {
    let source = "configuration table";
    let disk = &[Primitive::DiskRead, Primitive::DiskWrite];
    let memory = &[Primitive::DramRead, Primitive::DramWrite, Primitive::DramLatency];
    match component {
        "CPU" => {
            entry.sheet.summary = value.to_owned();
            entry.says("cpu.model", value, source, &[Primitive::CoreClock]);
            if let Some(hertz) = clock(value) {
                entry.counts("cpu.clock", hertz, "Hz", source, &[Primitive::CoreClock]);
            }
        }
        "RAM" => {
            let (kind, size) = value.split_once(' ').unwrap_or((value, ""));
            entry.says("memory.kind", kind, source, memory);
            if let Ok(megabytes) = size.trim_end_matches("MB").parse::<f64>() {
                entry.counts("memory.total", megabytes * 1024.0 * 1024.0, "B", source, &[Primitive::PageCache]);
            }
        }
        "Motherboard" => entry.says("board.model", value, source, &[]),
        "Chipset" => entry.says("board.chipset", value, source, memory),
        "ATA Controller" => entry.says("disk.controller", value, source, disk),
        "System Drive" => entry.says("disk.system.model", value, source, disk),
        "Secondary Drive" => entry.says("disk.secondary.model", value, source, disk),
        "CD-ROM Drive" => entry.says("disk.cdrom.model", value, source, &[]),
        _ => entry.says("os.name", value, source, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_of_the_page_is_continued() {
        let table = EVALUATION.tables[0].read().unwrap();
        assert_eq!(table.rows().filter_map(|row| byte(&row, "beastie.lab")).count(), table.rows.len());
    }
}
