//! Descriptions of figures that published tables and other tools share with this program, for catalogues that lack
//! them.

use model::{Better, Catalogue, Class, Metric, Primitive as P, ProbeDescription, Unit};

struct KnownHost {
    id: &'static str,
    title: &'static str,
    metric: Metric,
    class: Class,
    stresses: &'static [P],
}

const fn time(
    id: &'static str,
    title: &'static str,
    per: &'static str,
    class: Class,
    stresses: &'static [P],
) -> KnownHost {
    KnownHost { id, title, metric: Metric::lower(Unit::Seconds, per), class, stresses }
}

const fn data(
    id: &'static str,
    title: &'static str,
    per: &'static str,
    class: Class,
    stresses: &'static [P],
) -> KnownHost {
    KnownHost { id, title, metric: Metric::higher(Unit::BytesPerSecond, per), class, stresses }
}

const fn rate(
    id: &'static str,
    title: &'static str,
    per: &'static str,
    class: Class,
    stresses: &'static [P],
) -> KnownHost {
    KnownHost { id, title, metric: Metric::higher(Unit::PerSecond, per), class, stresses }
}

/// Titles, units and classes as in the catalogue.
static KNOWN: &[KnownHost] = &[
    data("memory.copy", "Copy", "bytes read + written", Class::Bandwidth, &[P::DramRead, P::DramWrite]),
    data("memory.scale", "Scale", "bytes read + written", Class::Bandwidth, &[P::DramRead, P::DramWrite]),
    data("memory.add", "Add", "bytes read + written", Class::Bandwidth, &[P::DramRead, P::DramWrite]),
    data("memory.triad", "Triad", "bytes read + written", Class::Bandwidth, &[P::DramRead, P::DramWrite]),
    data("memory.read", "Read", "bytes read", Class::Bandwidth, &[P::DramRead]),
    data("memory.write", "Write", "bytes written", Class::Bandwidth, &[P::DramWrite]),
    data("memory.memcpy", "memcpy of the C library", "bytes copied", Class::Bandwidth, &[P::DramRead, P::DramWrite]),
    data("memory.memcpy_unrolled", "Unrolled copy", "bytes copied", Class::Bandwidth, &[P::DramRead, P::DramWrite]),
    time(
        "memory.load_latency",
        "Dependent load latency",
        "load",
        Class::MemoryLatency,
        &[P::CacheLatency, P::DramLatency],
    ),
    time(
        "memory.load_latency_strided",
        "Dependent load latency, strided",
        "load",
        Class::MemoryLatency,
        &[P::CacheLatency, P::DramLatency],
    ),
    rate("cpu.arithmetic", "Arithmetic", "loops", Class::Compute, &[P::CoreClock, P::IntegerAlu]),
    rate("cpu.dhrystone", "Dhrystone", "Dhrystones", Class::Compute, &[P::CoreClock, P::IntegerAlu]),
    rate("cpu.whetstone", "Whetstone", "Whetstone instructions", Class::Compute, &[P::CoreClock, P::FloatingPoint]),
    rate("cpu.hanoi", "Tower of Hanoi", "solutions", Class::Compute, &[P::CoreClock, P::IntegerAlu]),
    time("os.syscall_write", "System call: 1-byte write", "call", Class::Compute, &[P::SyscallEntry]),
    time("os.syscall_getppid", "System call: getppid", "call", Class::Compute, &[P::SyscallEntry]),
    rate("os.syscall_mix", "System call mix", "counts of five calls", Class::Compute, &[P::SyscallEntry]),
    time("os.fork_exit", "Process creation: fork and exit", "process", Class::Process, &[P::Fork]),
    time("os.fork_exec", "Process creation: fork and exec", "process", Class::Process, &[P::Fork, P::Exec]),
    time("os.fork_shell", "Process creation: shell", "process", Class::Process, &[P::Fork, P::Exec, P::Shell]),
    time("os.exec", "Exec of oneself", "exec", Class::Process, &[P::Exec]),
    time("os.signal_install", "Signal handler installation", "call", Class::Compute, &[P::SyscallEntry, P::Signal]),
    time("os.signal_handle", "Signal handling", "signal", Class::Compute, &[P::Signal]),
    time("os.protection_fault", "Protection fault", "fault", Class::Fault, &[P::PageFault, P::Signal]),
    time("os.protection_trap", "Protection fault without its signal", "fault", Class::Fault, &[P::PageFault]),
    time("os.page_fault", "Page fault", "fault", Class::Fault, &[P::PageFault]),
    time("os.mmap", "Mapping a file", "mapping", Class::Fault, &[P::AddressSpace]),
    time("os.select", "select", "call", Class::Compute, &[P::Polling]),
    time("os.context_switch", "Context switch", "switch", Class::Ipc, &[P::ContextSwitch]),
    rate("os.pipe_switch", "Pipe-based context switching", "loops", Class::Ipc, &[P::ContextSwitch, P::Pipe]),
    time("ipc.pipe_latency", "Pipe round trip", "round trip", Class::Ipc, &[P::Pipe, P::ContextSwitch]),
    time("ipc.unix_latency", "Local socket round trip", "round trip", Class::Ipc, &[P::UnixSocket, P::ContextSwitch]),
    time("ipc.udp_latency", "UDP round trip over loopback", "round trip", Class::Ipc, &[P::UdpStack, P::ContextSwitch]),
    time("ipc.tcp_latency", "TCP round trip over loopback", "round trip", Class::Ipc, &[P::TcpStack, P::ContextSwitch]),
    time("ipc.rpc_udp_latency", "RPC over UDP", "call", Class::Ipc, &[P::UdpStack, P::ContextSwitch]),
    time("ipc.rpc_tcp_latency", "RPC over TCP", "call", Class::Ipc, &[P::TcpStack, P::ContextSwitch]),
    time("ipc.tcp_connect", "TCP connect and close", "connection", Class::Ipc, &[P::TcpStack]),
    rate(
        "ipc.pipe_throughput",
        "Pipe throughput, one process",
        "transfers",
        Class::Compute,
        &[P::Pipe, P::SyscallEntry],
    ),
    data("ipc.pipe_bandwidth", "Pipe bandwidth", "bytes", Class::Ipc, &[P::Pipe, P::KernelCopy]),
    data("ipc.unix_bandwidth", "Local socket bandwidth", "bytes", Class::Ipc, &[P::UnixSocket, P::KernelCopy]),
    data("ipc.tcp_bandwidth", "TCP bandwidth over loopback", "bytes", Class::Ipc, &[P::TcpStack, P::KernelCopy]),
    rate("file.create", "File creation", "files", Class::FileMetadata, &[P::FileMetadata]),
    rate("file.delete", "File deletion", "files", Class::FileMetadata, &[P::FileMetadata]),
    data("file.read_cached", "Reread of a cached file", "bytes read", Class::FileData, &[P::PageCache, P::KernelCopy]),
    data("file.mmap_read", "Reread of a mapped file", "bytes read", Class::FileData, &[P::PageCache]),
    data("file.read", "File read through the page cache", "bytes", Class::FileData, &[P::PageCache, P::KernelCopy]),
    data("file.write", "File write through the page cache", "bytes", Class::FileData, &[P::PageCache, P::DiskWrite]),
    data("file.copy", "File copy through the page cache", "bytes", Class::FileData, &[P::PageCache, P::DiskWrite]),
    data("file.sequential_read", "Sequential read", "bytes", Class::FileData, &[P::DiskRead]),
    data("file.sequential_write", "Sequential write", "bytes", Class::FileData, &[P::DiskWrite]),
    rate("shell.script", "Shell script", "scripts", Class::Process, &[P::Shell, P::Fork, P::Exec]),
    rate("shell.compile", "Compile and link", "programs", Class::Process, &[P::Compiler, P::Fork, P::Exec]),
    rate("shell.dc", "dc: square root of 2", "calculations", Class::Compute, &[P::CoreClock, P::IntegerAlu]),
    KnownHost {
        id: "application.session_cpu",
        title: "CPU use of a session",
        metric: Metric::higher(Unit::Ratio, "session"),
        class: Class::FileData,
        stresses: &[P::DiskRead, P::PageCache],
    },
    data(
        "application.sessions_device",
        "data from the device for all sessions",
        "bytes",
        Class::FileData,
        &[P::DiskRead, P::PageCache],
    ),
];

/// The description of a figure with an id of this program.
pub(crate) fn known(id: &str) -> Option<ProbeDescription> {
    let known = KNOWN.iter().find(|known| known.id == id)?;
    Some(ProbeDescription {
        id: known.id.to_owned(),
        title: known.title.to_owned(),
        about: String::new(),
        metric: known.metric.clone(),
        class: known.class,
        stresses: known.stresses.to_vec(),
        sources: Vec::new(),
        axes: Vec::new(),
    })
}

/// Whether an id belongs to a family of the catalogue rather than to a tool.
pub(crate) fn is_ours(id: &str) -> bool {
    let family = id.split('.').next().unwrap_or_default();
    ["memory", "cpu", "os", "ipc", "file", "network", "application", "shell"].contains(&family)
}

/// Whether an id is called like one of the catalogue and is in none. Applications have the names that their manifests
/// give them.
pub(crate) fn is_missing(id: &str, catalogue: &Catalogue) -> bool {
    is_ours(id) && !id.starts_with("application.") && catalogue.get(id).is_none() && known(id).is_none()
}

/// Class of a figure that only its tool has, by its unit.
pub(crate) const fn class_of(metric: &Metric) -> Class {
    match metric.unit {
        Unit::BytesPerSecond => Class::Bandwidth,
        _ => Class::Application,
    }
}

/// The direction of a unit if the source does not state one.
pub(crate) const fn default_direction(unit: Unit) -> Better {
    if unit.is_rate() { Better::Higher } else { Better::Lower }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_directions_follow_units() {
        let mut seen = std::collections::HashSet::new();
        for known in KNOWN {
            assert!(seen.insert(known.id), "{}", known.id);
            assert!(is_ours(known.id));
            // Of a share it is the id that says which way is better: sessions should be busy.
            let share = known.id == "application.session_cpu";
            assert_eq!(known.metric.better == default_direction(known.metric.unit), !share, "{}", known.id);
        }
    }
}
