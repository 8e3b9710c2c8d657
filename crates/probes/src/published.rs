//! The suites that continue a published evaluation: its figures at its points, in the order of its tables and columns.
//! The tables themselves are in the folder `published`.
//!
//! Two-party figures are measured on one CPU, as on the machines of those tables. If a table varies a figure in a
//! parameter that has no effect today, the figure appears once: BYTE's register variables, and file tests of 10 and of
//! 30 seconds.

/// Id and point, completed with representative values.
pub(crate) type Rows = &'static [(&'static str, &'static str)];

/// T. Pavel, CHEP 98: tables 1 to 7, and figure 4 (STREAM) after table 1.
pub(crate) const BABAR: Rows = &[
    ("memory.memcpy", "working_set=256MiB"),
    ("memory.memcpy_unrolled", "working_set=256MiB"),
    ("memory.read", "working_set=256MiB,threads=1,width=vector"),
    ("memory.write", "working_set=256MiB,threads=1,width=vector,stores=normal"),
    ("memory.copy", "working_set=256MiB,threads=1,stores=normal"),
    ("memory.scale", "working_set=256MiB,threads=1,stores=normal"),
    ("memory.add", "working_set=256MiB,threads=1,stores=normal"),
    ("memory.triad", "working_set=256MiB,threads=1,stores=normal"),
    ("os.syscall_write", ""),
    ("os.fork_exit", "resident=2MiB"),
    ("os.fork_exec", ""),
    ("os.fork_shell", ""),
    ("os.signal_install", ""),
    ("os.signal_handle", ""),
    ("os.context_switch", "processes=2,working_set=0B"),
    ("os.context_switch", "processes=8,working_set=0B"),
    ("ipc.pipe_latency", "placement=same_cpu"),
    ("ipc.udp_latency", "placement=same_cpu"),
    ("ipc.rpc_udp_latency", "placement=same_cpu"),
    ("ipc.tcp_latency", "placement=same_cpu"),
    ("ipc.rpc_tcp_latency", "placement=same_cpu"),
    ("file.create", "size=0B,durability=none,place=target"),
    ("file.delete", "size=0B,durability=none,place=target"),
];

/// BYTE magazine's Unix benchmarks, as CyberLife Labs ran them in 2004.
pub(crate) const BYTE: Rows = &[
    ("cpu.dhrystone", ""),
    ("cpu.arithmetic", "type=overhead"),
    ("cpu.arithmetic", "type=short"),
    ("cpu.arithmetic", "type=int"),
    ("cpu.arithmetic", "type=long"),
    ("cpu.arithmetic", "type=float"),
    ("cpu.arithmetic", "type=double"),
    ("os.syscall_mix", ""),
    ("ipc.pipe_throughput", ""),
    ("os.pipe_switch", "placement=same_cpu"),
    ("os.fork_exit", "resident=2MiB"),
    ("os.exec", ""),
    ("file.read", "buffer=1KiB,place=target"),
    ("file.write", "buffer=1KiB,place=target"),
    ("file.copy", "buffer=1KiB,place=target"),
    ("shell.compile", ""),
    ("shell.script", "concurrent=1"),
    ("shell.script", "concurrent=2"),
    ("shell.script", "concurrent=4"),
    ("shell.script", "concurrent=8"),
    ("shell.dc", ""),
    ("cpu.hanoi", ""),
];

/// lmbench on the DAISy and HEAT clusters: tables 8 to 11 and figure 16 with its plateaus.
pub(crate) const DAISY: Rows = &[
    ("ipc.pipe_bandwidth", "block=64KiB,capacity=64KiB,placement=same_cpu"),
    ("ipc.tcp_bandwidth", "block=64KiB,buffers=largest,placement=same_cpu"),
    ("file.read_cached", "data=touched,place=target"),
    ("file.mmap_read", "mapping=once,place=target"),
    ("memory.load_latency_strided", "working_set=64MiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=4KiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=8KiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=16KiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=32KiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=64KiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=128KiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=256KiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=512KiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=1MiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=2MiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=4MiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=8MiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=16MiB,stride=128B"),
    ("memory.load_latency_strided", "working_set=32MiB,stride=128B"),
    ("memory.hierarchy", ""),
    ("memory.hierarchy_latency", ""),
];

/// RAMspeed's blocks as CyberLife Labs printed them: reading and writing by 64-bit integers.
pub(crate) const RAMSPEED: Rows = &[
    ("memory.read", "working_set=1KiB,threads=1,width=integer"),
    ("memory.write", "working_set=1KiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=2KiB,threads=1,width=integer"),
    ("memory.write", "working_set=2KiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=4KiB,threads=1,width=integer"),
    ("memory.write", "working_set=4KiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=8KiB,threads=1,width=integer"),
    ("memory.write", "working_set=8KiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=16KiB,threads=1,width=integer"),
    ("memory.write", "working_set=16KiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=32KiB,threads=1,width=integer"),
    ("memory.write", "working_set=32KiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=64KiB,threads=1,width=integer"),
    ("memory.write", "working_set=64KiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=128KiB,threads=1,width=integer"),
    ("memory.write", "working_set=128KiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=256KiB,threads=1,width=integer"),
    ("memory.write", "working_set=256KiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=512KiB,threads=1,width=integer"),
    ("memory.write", "working_set=512KiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=1MiB,threads=1,width=integer"),
    ("memory.write", "working_set=1MiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=2MiB,threads=1,width=integer"),
    ("memory.write", "working_set=2MiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=4MiB,threads=1,width=integer"),
    ("memory.write", "working_set=4MiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=8MiB,threads=1,width=integer"),
    ("memory.write", "working_set=8MiB,threads=1,width=integer,stores=normal"),
    ("memory.read", "working_set=16MiB,threads=1,width=integer"),
    ("memory.write", "working_set=16MiB,threads=1,width=integer,stores=normal"),
];

/// Choutko and Klimentov's tape streaming, then the same medium with the block sizes of present drives.
pub(crate) const TAPE: Rows = &[
    ("file.sequential_write", "block=10KiB,format=tar,medium=target"),
    ("file.sequential_write", "block=20KiB,format=tar,medium=target"),
    ("file.sequential_write", "block=16KiB,format=plain,medium=target"),
    ("file.sequential_write", "block=128KiB,format=plain,medium=target"),
    ("file.sequential_read", "block=128KiB,format=plain,medium=target"),
    ("file.sequential_read", "block=10KiB,format=tar,medium=target"),
    ("file.sequential_write", "block=64KiB,format=plain,medium=target"),
    ("file.sequential_write", "block=64KiB,format=tar,medium=target"),
    ("file.sequential_read", "block=64KiB,format=plain,medium=target"),
    ("file.sequential_read", "block=64KiB,format=tar,medium=target"),
    ("file.sequential_write", "block=256KiB,format=plain,medium=target"),
    ("file.sequential_write", "block=256KiB,format=tar,medium=target"),
    ("file.sequential_read", "block=256KiB,format=plain,medium=target"),
    ("file.sequential_read", "block=256KiB,format=tar,medium=target"),
    ("file.sequential_write", "block=1MiB,format=plain,medium=target"),
    ("file.sequential_write", "block=1MiB,format=tar,medium=target"),
    ("file.sequential_read", "block=1MiB,format=plain,medium=target"),
    ("file.sequential_read", "block=1MiB,format=tar,medium=target"),
];

/// STREAM's four kernels with ordinary stores: one CPU, then all.
pub(crate) const STREAM: Rows = &[
    ("memory.copy", "working_set=256MiB,threads=1,stores=normal"),
    ("memory.scale", "working_set=256MiB,threads=1,stores=normal"),
    ("memory.add", "working_set=256MiB,threads=1,stores=normal"),
    ("memory.triad", "working_set=256MiB,threads=1,stores=normal"),
    ("memory.copy", "working_set=256MiB,threads=all,stores=normal"),
    ("memory.scale", "working_set=256MiB,threads=all,stores=normal"),
    ("memory.add", "working_set=256MiB,threads=all,stores=normal"),
    ("memory.triad", "working_set=256MiB,threads=all,stores=normal"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_a_published_table_is_one_figure() {
        for rows in [BABAR, BYTE, DAISY, RAMSPEED, STREAM, TAPE] {
            for (id, point) in rows.iter().filter(|(id, _)| !id.starts_with("memory.hierarchy")) {
                let found = crate::find(id).unwrap().complete(&point.parse().unwrap()).unwrap();
                assert_eq!(found.len(), 1, "{id} at {point} is {found:?}");
            }
        }
    }
}
