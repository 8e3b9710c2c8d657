//! Summary tables: columns under dashes, with cells that may be missing.

use model::{Primitive, Unit};

use crate::format::SourceText;
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, number, rate, seconds, text};
use crate::text::{MOST_NAMES, SourceFault, lines, number as read};

/// Content of a column: an id of this program or lmbench's, and the point. An empty id is skipped.
type Column = (&'static str, &'static str);

struct LmbenchTable {
    title: &'static str,
    scale: f64,
    unit: Unit,
    columns: &'static [Column],
}

const FREE: &str = "placement=free";

static TABLES: &[LmbenchTable] = &[
    LmbenchTable {
        title: "Processor, Processes - times in microseconds",
        scale: 1e-6,
        unit: Unit::Seconds,
        columns: &[
            ("cpu.clock", ""),
            ("os.syscall_getppid", ""),
            ("lmbench.null_io", ""),
            ("lmbench.stat", ""),
            ("lmbench.open_close", ""),
            ("lmbench.select_tcp", ""),
            ("os.signal_install", ""),
            ("os.signal_handle", ""),
            ("os.fork_exit", ""),
            ("os.fork_exec", "linking=dynamic,program=hello"),
            ("os.fork_shell", "linking=dynamic"),
        ],
    },
    LmbenchTable {
        title: "Basic integer operations - times in nanoseconds",
        scale: 1e-9,
        unit: Unit::Seconds,
        columns: &[
            ("lmbench.integer_bit", ""),
            ("lmbench.integer_add", ""),
            ("lmbench.integer_mul", ""),
            ("lmbench.integer_div", ""),
            ("lmbench.integer_mod", ""),
        ],
    },
    LmbenchTable {
        title: "Basic uint64 operations - times in nanoseconds",
        scale: 1e-9,
        unit: Unit::Seconds,
        columns: &[
            ("lmbench.uint64_bit", ""),
            ("lmbench.uint64_add", ""),
            ("lmbench.uint64_mul", ""),
            ("lmbench.uint64_div", ""),
            ("lmbench.uint64_mod", ""),
        ],
    },
    LmbenchTable {
        title: "Basic float operations - times in nanoseconds",
        scale: 1e-9,
        unit: Unit::Seconds,
        columns: &[
            ("lmbench.float_add", ""),
            ("lmbench.float_mul", ""),
            ("lmbench.float_div", ""),
            ("lmbench.float_bogo", ""),
        ],
    },
    LmbenchTable {
        title: "Basic double operations - times in nanoseconds",
        scale: 1e-9,
        unit: Unit::Seconds,
        columns: &[
            ("lmbench.double_add", ""),
            ("lmbench.double_mul", ""),
            ("lmbench.double_div", ""),
            ("lmbench.double_bogo", ""),
        ],
    },
    LmbenchTable {
        title: "Context switching - times in microseconds",
        scale: 1e-6,
        unit: Unit::Seconds,
        columns: &[
            ("os.context_switch", "processes=2,working_set=0B,placement=free"),
            ("os.context_switch", "processes=2,working_set=16KiB,placement=free"),
            ("os.context_switch", "processes=2,working_set=64KiB,placement=free"),
            ("os.context_switch", "processes=8,working_set=16KiB,placement=free"),
            ("os.context_switch", "processes=8,working_set=64KiB,placement=free"),
            ("os.context_switch", "processes=16,working_set=16KiB,placement=free"),
            ("os.context_switch", "processes=16,working_set=64KiB,placement=free"),
        ],
    },
    LmbenchTable {
        title: "*Local* Communication latencies in microseconds",
        scale: 1e-6,
        unit: Unit::Seconds,
        columns: &[
            // The context switch of the table above.
            ("", ""),
            ("ipc.pipe_latency", FREE),
            ("ipc.unix_latency", FREE),
            ("ipc.udp_latency", FREE),
            ("ipc.rpc_udp_latency", "messages=library,placement=free"),
            ("ipc.tcp_latency", FREE),
            ("ipc.rpc_tcp_latency", "messages=library,placement=free"),
            ("ipc.tcp_connect", ""),
        ],
    },
    LmbenchTable {
        title: "*Remote* Communication latencies in microseconds",
        scale: 1e-6,
        unit: Unit::Seconds,
        columns: &[
            ("lmbench.remote_udp", ""),
            ("lmbench.remote_rpc_udp", ""),
            ("lmbench.remote_tcp", ""),
            ("lmbench.remote_rpc_tcp", ""),
            ("lmbench.remote_tcp_connect", ""),
        ],
    },
    LmbenchTable {
        title: "File & VM system latencies in microseconds",
        scale: 1e-6,
        unit: Unit::Seconds,
        columns: &[
            ("file.create", "size=0B"),
            ("file.delete", "size=0B"),
            ("file.create", "size=10KiB"),
            ("file.delete", "size=10KiB"),
            ("os.mmap", ""),
            ("os.protection_trap", ""),
            ("os.page_fault", "kind=file"),
            ("os.select", "descriptors=100,kind=file"),
        ],
    },
    LmbenchTable {
        title: "*Local* Communication bandwidths in MB/s",
        scale: 1e6,
        unit: Unit::BytesPerSecond,
        columns: &[
            ("ipc.pipe_bandwidth", "block=64KiB"),
            ("ipc.unix_bandwidth", ""),
            ("ipc.tcp_bandwidth", ""),
            ("file.read_cached", "data=touched"),
            ("file.mmap_read", ""),
            ("memory.memcpy", "piece=whole"),
            ("memory.memcpy_unrolled", ""),
            ("memory.read", ""),
            ("memory.write", ""),
        ],
    },
    LmbenchTable {
        title: "Memory latencies in nanoseconds",
        scale: 1e-9,
        unit: Unit::Seconds,
        columns: &[
            ("cpu.clock", ""),
            ("lmbench.l1_latency", ""),
            ("lmbench.l2_latency", ""),
            ("memory.load_latency_strided", ""),
            ("memory.load_latency", ""),
        ],
    },
];

pub(super) fn parse(source: &SourceText<'_>) -> Result<Vec<SourceSheet>, SourceFault> {
    let mut sheets: Vec<SourceSheet> = Vec::new();
    let mut table: Option<&LmbenchTable> = None;
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for (at, line) in lines(source.text) {
        if let Some(known) = TABLES.iter().find(|known| line.trim_start().starts_with(known.title)) {
            table = Some(known);
            groups.clear();
        } else if is_ruler(line) {
            groups = spans(line);
        } else if line.trim().is_empty() {
            (table, groups) = (None, Vec::new());
        } else if let Some(known) = table.filter(|_| groups.len() > 2) {
            row(&mut sheets, known, &groups, line, at)?;
        } else if table.is_none() && !line.contains("L M B E N C H") {
            continue;
        }
        // The second line of a heading, with sizes, belongs to its table.
        source.took(at);
    }
    Ok(sheets)
}

fn is_ruler(line: &str) -> bool {
    line.starts_with("---") && line.contains("- -") && line.chars().all(|c| c == '-' || c == ' ')
}

/// Begin and end of each group of dashes.
fn spans(line: &str) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (at, _) in line.bytes().enumerate().filter(|(_, byte)| *byte == b'-') {
        match spans.last_mut() {
            Some((_, end)) if *end == at => *end = at + 1,
            _ => spans.push((at, at + 1)),
        }
    }
    spans
}

fn row(
    sheets: &mut Vec<SourceSheet>,
    table: &LmbenchTable,
    groups: &[(usize, usize)],
    line: &str,
    at: usize,
) -> Result<(), SourceFault> {
    let (Some(host), Some(os)) = (line.get(..groups[0].1), line.get(groups[1].0..groups[1].1.min(line.len()))) else {
        return Err(SourceFault::new("the row does not fit the table's columns", at));
    };
    let host = host.trim();
    let found = match sheets.iter().position(|sheet| sheet.machine == host) {
        Some(found) => found,
        None if sheets.len() == MOST_NAMES => {
            return Err(SourceFault::new(format!("it has more than {MOST_NAMES} hosts"), at));
        }
        None => {
            let facts = text("os.name", os, "summary", &[]).into_iter().collect();
            let version = Some("3".to_owned());
            sheets.push(SourceSheet { machine: host.to_owned(), version, facts, ..SourceSheet::default() });
            sheets.len() - 1
        }
    };
    let sheet = &mut sheets[found];
    let mut from = groups[1].1;
    while let Some(start) = line.get(from..).and_then(|rest| rest.find(|c: char| !c.is_whitespace())) {
        let start = from + start;
        let end = line[start..].find(char::is_whitespace).map_or(line.len(), |end| start + end);
        from = end;
        let middle = start + end;
        let nearest = (0..groups.len() - 2).min_by_key(|group| {
            let (begin, close) = groups[group + 2];
            (begin + close).abs_diff(middle)
        });
        let Some(&(id, point)) = nearest.and_then(|group| table.columns.get(group)) else { continue };
        let Some(value) = thousands(&line[start..end]) else { continue };
        if id == "cpu.clock" {
            if !sheet.facts.iter().any(|fact| fact.name == id) {
                sheet.facts.push(number(id, value * 1e6, "Hz", "summary", &[Primitive::CoreClock]));
            }
        } else if !id.is_empty() {
            let metric = match table.unit {
                Unit::BytesPerSecond => bytes_per_second("bytes"),
                Unit::PerSecond => rate("operations"),
                _ => seconds("operation"),
            };
            let reading = SourceReading::new(id, id, value * table.scale, metric);
            sheet.readings.push(SourceReading { point: point.parse().unwrap_or_default(), ..reading });
        }
    }
    Ok(())
}

/// Large values are printed as `12.5K`.
fn thousands(word: &str) -> Option<f64> {
    match word.strip_suffix('K') {
        Some(word) => read(word).map(|value| value * 1e3),
        None => read(word),
    }
}
