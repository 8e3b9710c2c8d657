//! The catalogue against its specification: family by family every figure, what it is counted in, which way is better, who takes
//! part, and every value of every axis. A row changes only with the specification; a probe that departs from its row fails here.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use model::{Better, Unit};
use probes::{Axis, Parties, Probe, all, find};

use Better::{Higher, Lower};
use Parties::{Free, One, Placed, Threads};
use Unit::{Bytes, BytesPerSecond, Count, PerSecond, Ratio, Seconds};

/// Values of an axis as the specification writes them; `a..b` are sizes that double, `a..b/4` with four points to a doubling.
type Values = &'static str;

/// Id, unit, what it counts or is the time of, direction, parties, axes.
struct Row(&'static str, Unit, &'static str, Better, Parties, &'static [(&'static str, Values)]);

const WORKING_SET: (&str, Values) = ("working_set", "1KiB..1GiB");
const UP_TO_256_MIB: (&str, Values) = ("working_set", "4KiB..256MiB");
const THREADS: (&str, Values) = ("threads", "1 all");
const STORES: (&str, Values) = ("stores", "normal streaming best");
const PAGES: (&str, Values) = ("pages", "base huge");
const STREAM: &[(&str, Values)] = &[WORKING_SET, THREADS, STORES, PAGES];
const BOTH_WAYS: &str = "bytes read + written";
const PLACES: &str = "same_cpu cross_cpu free";
const PLACEMENT: &[(&str, Values)] = &[("placement", PLACES)];
const TYPES: &[(&str, Values)] = &[("type", "int long float double"), ("what", "latency throughput")];
const BLOCKS: (&str, Values) = ("block", "4KiB 16KiB 64KiB 256KiB 1MiB");
const DATA: (&str, Values) = ("data", "copied touched");
const PLACE: (&str, Values) = ("place", "target tmpfs");
const FILES: &[(&str, Values)] = &[("size", "0B 1KiB 4KiB 10KiB"), ("durability", "none fsync"), PLACE];
const BUFFERS: &[(&str, Values)] = &[("buffer", "256B 1KiB 4KiB"), PLACE];
const MEDIA: &[(&str, Values)] = &[
    ("block", "10KiB 16KiB 20KiB 64KiB 128KiB 256KiB 1MiB 4MiB"),
    ("format", "plain tar"),
    ("medium", "file device target"),
];

const MEMORY: &[Row] = &[
    Row("memory.copy", BytesPerSecond, BOTH_WAYS, Higher, Threads, STREAM),
    Row("memory.scale", BytesPerSecond, BOTH_WAYS, Higher, Threads, STREAM),
    Row("memory.add", BytesPerSecond, BOTH_WAYS, Higher, Threads, STREAM),
    Row("memory.triad", BytesPerSecond, BOTH_WAYS, Higher, Threads, STREAM),
    Row(
        "memory.read",
        BytesPerSecond,
        "bytes read",
        Higher,
        Threads,
        &[WORKING_SET, THREADS, ("width", "integer double vector best"), PAGES],
    ),
    Row(
        "memory.write",
        BytesPerSecond,
        "bytes written",
        Higher,
        Threads,
        &[WORKING_SET, THREADS, ("width", "integer double vector"), STORES, PAGES],
    ),
    Row("memory.memcpy", BytesPerSecond, "bytes copied", Higher, One, &[WORKING_SET]),
    Row("memory.memcpy_unrolled", BytesPerSecond, "bytes copied", Higher, One, &[WORKING_SET]),
    Row("memory.load_latency", Seconds, "load", Lower, One, &[("working_set", "4KiB..1GiB/4"), PAGES]),
    Row("memory.load_latency_strided", Seconds, "load", Lower, One, &[UP_TO_256_MIB, ("stride", "8B..32KiB")]),
    Row("memory.hierarchy", Bytes, "level", Higher, One, &[("level", "1 2 3 4")]),
    Row("memory.hierarchy_latency", Seconds, "load", Lower, One, &[("level", "1 2 3 4 memory")]),
    Row("memory.hierarchy_levels", Count, "levels", Higher, One, &[]),
    Row("memory.parallelism", Ratio, "loads at once", Higher, One, &[UP_TO_256_MIB]),
    Row("memory.tlb_cost", Seconds, "load", Lower, One, &[("working_set", "64KiB..256MiB"), PAGES]),
    Row("memory.loaded_latency", Seconds, "load", Lower, One, &[("load", "none half all")]),
    Row("memory.core_to_core", Seconds, "hand-over", Lower, One, &[("pair", "near far sibling")]),
];

const CPU: &[Row] = &[
    Row(
        "cpu.arithmetic",
        PerSecond,
        "sums of 100 terms",
        Higher,
        One,
        &[("type", "overhead short int long float double")],
    ),
    Row("cpu.add", Seconds, "addition", Lower, One, TYPES),
    Row("cpu.multiply", Seconds, "multiplication", Lower, One, TYPES),
    Row("cpu.divide", Seconds, "division", Lower, One, TYPES),
    Row("cpu.dhrystone", PerSecond, "dhrystones", Higher, One, &[]),
    Row("cpu.whetstone", PerSecond, "Whetstone instructions", Higher, One, &[]),
    Row("cpu.hanoi", PerSecond, "towers", Higher, One, &[]),
    Row("cpu.branch_miss", Seconds, "mispredicted branch", Lower, One, &[]),
    Row("cpu.fma_peak", PerSecond, "floating-point operations", Higher, Threads, &[("type", "float double"), THREADS]),
    Row("cpu.int8_dot", PerSecond, "8-bit operations", Higher, Threads, &[("unit", "vector matrix"), THREADS]),
    Row("cpu.aes", PerSecond, "rounds of 16 bytes", Higher, Threads, &[THREADS]),
    Row("cpu.sha256", BytesPerSecond, "bytes hashed", Higher, Threads, &[THREADS]),
    Row("cpu.popcount", PerSecond, "words of 64 bits", Higher, Threads, &[THREADS]),
    Row("cpu.crc32c", BytesPerSecond, "bytes checked", Higher, Threads, &[THREADS]),
];

const OS: &[Row] = &[
    Row("os.syscall_write", Seconds, "call", Lower, One, &[]),
    Row("os.syscall_getppid", Seconds, "call", Lower, One, &[]),
    Row("os.syscall_mix", PerSecond, "counts of five calls", Higher, One, &[]),
    Row("os.clock_read", Seconds, "read", Lower, One, &[]),
    Row("os.fork_exit", Seconds, "process", Lower, One, &[("resident", "2MiB..1GiB")]),
    Row("os.fork_exec", Seconds, "process", Lower, One, &[("linking", "static dynamic")]),
    Row("os.fork_shell", Seconds, "process", Lower, One, &[]),
    Row("os.exec", Seconds, "exec", Lower, One, &[]),
    Row("os.posix_spawn", Seconds, "process", Lower, One, &[]),
    Row("os.vfork_exec", Seconds, "process", Lower, One, &[]),
    Row("os.thread_create", Seconds, "thread", Lower, One, &[]),
    Row("os.signal_install", Seconds, "installation", Lower, One, &[]),
    Row("os.signal_handle", Seconds, "signal", Lower, One, &[]),
    Row("os.protection_fault", Seconds, "fault", Lower, One, &[]),
    Row(
        "os.context_switch",
        Seconds,
        "switch",
        Lower,
        Placed,
        &[("processes", "2 8 16"), ("working_set", "0B 4KiB 16KiB 64KiB"), ("placement", PLACES)],
    ),
    Row("os.thread_switch", Seconds, "switch", Lower, Placed, PLACEMENT),
    Row("os.pipe_switch", PerSecond, "loops", Higher, Placed, PLACEMENT),
    Row("os.futex_handoff", Seconds, "round trip", Lower, Placed, PLACEMENT),
    Row("os.wake_cross_cpu", Seconds, "wake-up", Lower, Placed, &[("asleep", "50us 1ms"), ("placement", "cross_cpu")]),
    Row("os.yield", Seconds, "call", Lower, One, &[]),
    Row("os.page_fault", Seconds, "fault", Lower, One, &[("kind", "anonymous file cow huge")]),
    Row("os.mmap", Seconds, "mapping", Lower, One, &[("size", "64KiB 1MiB 16MiB 64MiB")]),
    Row("os.select", Seconds, "call", Lower, One, &[("descriptors", "10 100 500")]),
    Row("os.epoll", Seconds, "call", Lower, One, &[("descriptors", "10 100 500")]),
    Row("os.file_lock", Seconds, "round trip", Lower, Placed, PLACEMENT),
    Row("os.timer_wakeup", Seconds, "wake-up", Lower, One, &[("load", "idle busy")]),
];

const IPC: &[Row] = &[
    Row("ipc.pipe_latency", Seconds, "round trip", Lower, Placed, PLACEMENT),
    Row("ipc.unix_latency", Seconds, "round trip", Lower, Placed, PLACEMENT),
    Row("ipc.udp_latency", Seconds, "round trip", Lower, Placed, PLACEMENT),
    Row("ipc.rpc_udp_latency", Seconds, "round trip", Lower, Placed, PLACEMENT),
    Row("ipc.tcp_latency", Seconds, "round trip", Lower, Placed, PLACEMENT),
    Row("ipc.rpc_tcp_latency", Seconds, "round trip", Lower, Placed, PLACEMENT),
    Row("ipc.tcp_connect", Seconds, "connection", Lower, Placed, PLACEMENT),
    Row("ipc.pipe_throughput", PerSecond, "loops", Higher, One, &[]),
    Row(
        "ipc.pipe_bandwidth",
        BytesPerSecond,
        "bytes moved",
        Higher,
        Placed,
        &[BLOCKS, ("capacity", "4KiB 64KiB 1MiB"), DATA, ("placement", PLACES)],
    ),
    Row("ipc.unix_bandwidth", BytesPerSecond, "bytes moved", Higher, Placed, &[BLOCKS, DATA, ("placement", PLACES)]),
    Row(
        "ipc.tcp_bandwidth",
        BytesPerSecond,
        "bytes moved",
        Higher,
        Placed,
        &[BLOCKS, ("buffers", "autotuning largest"), DATA, ("placement", PLACES)],
    ),
];

const FILE: &[Row] = &[
    Row("file.create", PerSecond, "files", Higher, One, FILES),
    Row("file.delete", PerSecond, "files", Higher, One, FILES),
    Row("file.fsync", Seconds, "append", Lower, One, &[]),
    Row("file.read_cached", BytesPerSecond, "bytes read", Higher, One, &[DATA, PLACE]),
    Row("file.mmap_read", BytesPerSecond, "bytes read", Higher, One, &[("mapping", "once open_to_close"), PLACE]),
    Row("file.read", BytesPerSecond, "bytes read", Higher, One, BUFFERS),
    Row("file.write", BytesPerSecond, "bytes written", Higher, One, BUFFERS),
    Row("file.copy", BytesPerSecond, "bytes copied", Higher, One, BUFFERS),
    Row("file.sequential_read", BytesPerSecond, "bytes read", Higher, One, MEDIA),
    Row("file.sequential_write", BytesPerSecond, "bytes written", Higher, One, MEDIA),
];

const SHELL: &[Row] = &[
    Row("shell.script", PerSecond, "rounds of concurrent scripts", Higher, Free, &[("concurrent", "1 2 4 8")]),
    Row("shell.compile", PerSecond, "programs", Higher, Free, &[]),
    Row("shell.dc", PerSecond, "square roots", Higher, One, &[]),
];

fn rows() -> impl Iterator<Item = &'static Row> {
    [MEMORY, CPU, OS, IPC, FILE, SHELL].into_iter().flatten()
}

/// The values that a row stands for.
fn written(values: Values) -> Vec<String> {
    let Some((from, to)) = values.split_once("..") else {
        return values.split_whitespace().map(str::to_owned).collect();
    };
    let (to, per_octave) = to.split_once('/').map_or((to, 1), |(to, points)| (to, points.parse().unwrap()));
    let [from, to] = [from, to].map(|size| model::parse_size(size).unwrap());
    Axis::sizes("size", from, to, per_octave, &[]).all()
}

fn departs(row: &Row, probe: &Probe) -> Option<String> {
    let Row(id, unit, per, better, parties, axes) = row;
    let metric = probe.metric;
    if (metric.unit, metric.per, metric.better) != (*unit, *per, *better) {
        return Some(format!("{id} is {metric:?} instead of {unit:?} per {per}, {better:?} is better"));
    }
    if probe.parties != *parties {
        return Some(format!("{id} has parties {:?} instead of {parties:?}", probe.parties));
    }
    let ours: Vec<_> = probe.axes.iter().map(|axis| (axis.name, axis.all())).collect();
    let theirs: Vec<_> = axes.iter().map(|(name, values)| (*name, written(values))).collect();
    (ours != theirs).then(|| format!("{id} has the axes {ours:?} instead of {theirs:?}"))
}

#[test]
fn every_row_of_the_specification_is_a_probe_as_written() {
    let missing = rows().filter(|row| find(row.0).is_none()).map(|row| format!("{} is missing", row.0));
    let wrong = rows().filter_map(|row| departs(row, find(row.0)?));
    let departures: Vec<String> = missing.chain(wrong).collect();
    assert!(departures.is_empty(), "{}", departures.join("\n"));
}

#[test]
fn every_probe_is_a_row_of_the_specification() {
    let unknown: Vec<&str> = all().map(|probe| probe.id).filter(|id| rows().all(|row| row.0 != *id)).collect();
    assert!(unknown.is_empty(), "give {unknown:?} a row here: what it is counted in and along which axes");
}

/// A bandwidth says which bytes count; a figure of two parties carries its placement in every point.
#[test]
fn bandwidths_name_their_bytes_and_points_their_placement() {
    for probe in all() {
        if probe.metric.unit == BytesPerSecond {
            assert!(probe.metric.per.starts_with("bytes "), "{}: which bytes?", probe.id);
        }
        for point in probe.points().into_iter().filter(|_| probe.parties == Placed) {
            assert!(point.get("placement").is_some(), "{} at {point} does not say where its parties are", probe.id);
        }
    }
}
