//! Pavel, "Choosing CPUs in an Open Market: System Performance Testing for the BABAR Online Farm".

use model::{Metric, Primitive};

use super::machines::{Entry, Machines, clock};
use super::table::Row;
use super::{Evaluation, Tables};
use crate::Error;
use crate::sheet::{Reading, bytes_per_second, rate, seconds};

macro_rules! table {
    ($name:literal, $title:literal) => {
        super::table::Embedded {
            name: $name,
            title: $title,
            text: include_str!(concat!("../../../../published/babar-cpu-1998/", $name, ".csv")),
        }
    };
}

pub(super) static EVALUATION: Evaluation = Evaluation {
    name: "babar-cpu-1998",
    title: "CPUs for the BaBar online farm: lmbench on workstations and commodity boxes",
    attribution: "T. J. Pavel, \"Choosing CPUs in an Open Market: System Performance Testing for the BABAR Online \
                  Farm\", CHEP 98",
    date: "1998-01-01T00:00:00Z",
    tables: &[
        table!("table1_memory_bandwidth", "Memory bandwidth"),
        table!("table2_null_syscall", "System call"),
        table!("table3_process_creation", "Process creation"),
        table!("table4_signal_handling", "Signal handling"),
        table!("table5_context_switch", "Context switch"),
        table!("table6_ipc_latency", "Latency between processes over the loopback"),
        table!("table7_file_operations", "File creation and deletion"),
    ],
    read,
};

/// A column: its table and name, our id and point, and what multiplies it into the base unit.
type Column = (&'static str, &'static str, &'static str, &'static str, f64);

const FREE: &str = "placement=free";
const COLUMNS: &[Column] = &[
    ("table1_memory_bandwidth", "memcpy_libc_mb_s", "memory.memcpy", "", 1e6),
    ("table1_memory_bandwidth", "memcpy_unrolled_mb_s", "memory.memcpy_unrolled", "", 1e6),
    ("table1_memory_bandwidth", "mem_read_mb_s", "memory.read", "", 1e6),
    ("table1_memory_bandwidth", "mem_write_mb_s", "memory.write", "", 1e6),
    ("table2_null_syscall", "null_syscall_us", "os.syscall_write", "", 1e-6),
    ("table3_process_creation", "null_process_ms", "os.fork_exit", "", 1e-3),
    ("table3_process_creation", "simple_process_ms", "os.fork_exec", "", 1e-3),
    ("table3_process_creation", "sh_process_ms", "os.fork_shell", "", 1e-3),
    ("table4_signal_handling", "sigaction_us", "os.signal_install", "", 1e-6),
    ("table4_signal_handling", "signal_handler_us", "os.signal_handle", "", 1e-6),
    (
        "table5_context_switch",
        "context_switch_2proc_us",
        "os.context_switch",
        "processes=2,working_set=0B,placement=free",
        1e-6,
    ),
    (
        "table5_context_switch",
        "context_switch_8proc_us",
        "os.context_switch",
        "processes=8,working_set=0B,placement=free",
        1e-6,
    ),
    ("table6_ipc_latency", "pipe_us", "ipc.pipe_latency", FREE, 1e-6),
    ("table6_ipc_latency", "udp_us", "ipc.udp_latency", FREE, 1e-6),
    ("table6_ipc_latency", "rpc_udp_us", "ipc.rpc_udp_latency", FREE, 1e-6),
    ("table6_ipc_latency", "tcp_us", "ipc.tcp_latency", FREE, 1e-6),
    ("table6_ipc_latency", "rpc_tcp_us", "ipc.rpc_tcp_latency", FREE, 1e-6),
    ("table7_file_operations", "create_per_s", "file.create", "", 1.0),
    ("table7_file_operations", "delete_per_s", "file.delete", "", 1.0),
];

fn read(tables: &Tables) -> Result<Machines, Error> {
    let mut machines = Machines::default();
    // Table 2 first: it names the machines most plainly.
    for name in ["table2_null_syscall", "table5_context_switch", "table1_memory_bandwidth", "table7_file_operations"] {
        for row in tables.get(name)?.rows() {
            describe(&mut machines, &row);
        }
    }
    for &(name, column, id, point, scale) in COLUMNS {
        for row in tables.get(name)?.rows() {
            let Some(value) = row.number(column) else { continue };
            let metric = metric_of(column);
            let mut reading = Reading::new(id, column, value * scale, metric).printed(row.text(column));
            reading.point = point.parse().unwrap_or_default();
            if id == "os.fork_exec" {
                reading = reading.note("whether the program was linked statically is not printed");
            }
            describe(&mut machines, &row).add(reading);
        }
    }
    Ok(machines)
}

fn metric_of(column: &str) -> Metric {
    match column {
        _ if column.ends_with("_mb_s") => bytes_per_second("bytes"),
        _ if column.ends_with("_per_s") => rate("files"),
        _ => seconds("operation"),
    }
}

/// The tables tell one machine from another by its name and system; what stands in brackets varies from table to table
/// (the memory in one, the cache in another) and is kept as a fact.
fn describe<'a>(machines: &'a mut Machines, row: &Row<'_>) -> &'a mut Entry {
    let (name, bracket) = split_bracket(row.text("machine"));
    let system = row.text("os");
    let label = if ["Intel PPro/200 MHz", "DEC Alpha 500/266 MHz"].contains(&name) {
        format!("{name} ({system})")
    } else {
        name.to_owned()
    };
    let entry = machines.of(&format!("{name}|{system}"), &label);
    entry.sheet.summary = format!("{name}, {system}");
    entry.says("os.name", system, "printed", &[]);
    entry.says("file_system.type", row.text("fs_type"), "printed", &[Primitive::FileMetadata]);
    if bracket.contains('L') {
        entry.says("cache.l2", bracket, "printed", &[Primitive::L2]);
    } else {
        entry.says("memory.kind", bracket, "printed", &[Primitive::DramRead, Primitive::DramWrite]);
    }
    if !bracket.is_empty() {
        entry.note(
            "rows that name this machine with its memory and rows that name it with its cache are taken as one machine",
        );
    }
    if let Some(hertz) = row.number("clock_mhz").map(|mhz| mhz * 1e6).or_else(|| clock(name)) {
        entry.counts("cpu.clock", hertz, "Hz", "printed", &[Primitive::CoreClock]);
    }
    entry
}

fn split_bracket(machine: &str) -> (&str, &str) {
    let (name, rest) = machine.split_once(" (").unwrap_or((machine, ""));
    (name, rest.trim_end_matches(')'))
}
