//! T. Pavel, CHEP 98: tables 1 to 7, and figure 4 (STREAM).

use super::super::describe::{
    A_SECOND, Column, Description, MEGABYTES, MICROSECONDS, MILLISECONDS, Rows, Sorted, Table, Today, numbers, words,
};

pub(super) static EVALUATION: Description = Description {
    suite: "babar",
    published: "babar-cpu-1998",
    title: "CPUs for the BaBar online farm",
    definition: "",
    tables: TABLES,
};

const MACHINE: Column = words("machine", "machine", Today::Machine);
const SYSTEM: Column = words("system", "os", Today::Fact("kernel.release"));
const TODAY: Rows = Rows::Machines { today: &[""] };
const LARGEST_FIRST: bool = true;
const SMALLEST_FIRST: bool = false;
const STREAM_POINT: &str = "working_set=256MiB,threads=1,stores=normal";

const fn micros(id: &'static str, point: &'static str) -> Today {
    Today::Figure(id, point, MICROSECONDS)
}

const fn millis(id: &'static str, point: &'static str) -> Today {
    Today::Figure(id, point, MILLISECONDS)
}

const fn megabytes(id: &'static str, point: &'static str) -> Today {
    Today::Figure(id, point, MEGABYTES)
}

const TABLES: &[Table] = &[
    Table {
        title: "Table 1. Memory bandwidth (MB/s), sorted by memcpy (libc)",
        source: "table1_memory_bandwidth",
        note: "MB is 10^6 bytes; a copy counts its bytes once.",
        columns: &[
            MACHINE,
            SYSTEM,
            numbers("memcpy (libc)", "memcpy_libc_mb_s", megabytes("memory.memcpy", "working_set=256MiB")),
            numbers(
                "memcpy (unrolled)",
                "memcpy_unrolled_mb_s",
                megabytes("memory.memcpy_unrolled", "working_set=256MiB"),
            ),
            numbers("mem read", "mem_read_mb_s", megabytes("memory.read", "working_set=256MiB,threads=1,width=vector")),
            numbers(
                "mem write",
                "mem_write_mb_s",
                megabytes("memory.write", "working_set=256MiB,threads=1,width=vector,stores=normal"),
            ),
        ],
        rows: TODAY,
        sort: Some((2, LARGEST_FIRST, Sorted::All)),
    },
    Table {
        title: "Figure 4. STREAM (MB/s, bytes read and bytes written summed)",
        source: "",
        note: "The values of the figure are not printed; today's machine stands alone.",
        columns: &[
            MACHINE,
            SYSTEM,
            numbers("copy", "", megabytes("memory.copy", STREAM_POINT)),
            numbers("scale", "", megabytes("memory.scale", STREAM_POINT)),
            numbers("add", "", megabytes("memory.add", STREAM_POINT)),
            numbers("triad", "", megabytes("memory.triad", STREAM_POINT)),
        ],
        rows: TODAY,
        sort: None,
    },
    Table {
        title: "Table 2. Null system call (us), sorted by it",
        source: "table2_null_syscall",
        note: "A write of one byte to /dev/null.",
        columns: &[
            MACHINE,
            SYSTEM,
            numbers("clock (MHz)", "clock_mhz", Today::Number("cpu.clock", 1e6)),
            numbers("null syscall", "null_syscall_us", micros("os.syscall_write", "")),
        ],
        rows: TODAY,
        sort: Some((3, SMALLEST_FIRST, Sorted::All)),
    },
    Table {
        title: "Table 3. Process creation (ms), sorted by simple process",
        source: "table3_process_creation",
        note: "",
        columns: &[
            MACHINE,
            SYSTEM,
            numbers("null process", "null_process_ms", millis("os.fork_exit", "resident=2MiB")),
            numbers("simple process", "simple_process_ms", millis("os.fork_exec", "")),
            numbers("/bin/sh process", "sh_process_ms", millis("os.fork_shell", "")),
        ],
        rows: TODAY,
        sort: Some((3, SMALLEST_FIRST, Sorted::All)),
    },
    Table {
        title: "Table 4. Signal handling (us), sorted by signal handler",
        source: "table4_signal_handling",
        note: "",
        columns: &[
            MACHINE,
            SYSTEM,
            numbers("sigaction", "sigaction_us", micros("os.signal_install", "")),
            numbers("signal handler", "signal_handler_us", micros("os.signal_handle", "")),
        ],
        rows: TODAY,
        sort: Some((3, SMALLEST_FIRST, Sorted::All)),
    },
    Table {
        title: "Table 5. Context switch (us), sorted by 2 processes",
        source: "table5_context_switch",
        note: "All processes on one CPU; the cost of passing the token is subtracted.",
        columns: &[
            MACHINE,
            SYSTEM,
            numbers(
                "2 processes",
                "context_switch_2proc_us",
                micros("os.context_switch", "processes=2,working_set=0B"),
            ),
            numbers(
                "8 processes",
                "context_switch_8proc_us",
                micros("os.context_switch", "processes=8,working_set=0B"),
            ),
        ],
        rows: TODAY,
        sort: Some((2, SMALLEST_FIRST, Sorted::All)),
    },
    Table {
        title: "Table 6. Round trips over the loopback (us), sorted by TCP",
        source: "table6_ipc_latency",
        note: "Both ends on one CPU, which is what the machines of the table had.",
        columns: &[
            MACHINE,
            SYSTEM,
            numbers("pipe", "pipe_us", micros("ipc.pipe_latency", "placement=same_cpu")),
            numbers("UDP", "udp_us", micros("ipc.udp_latency", "placement=same_cpu")),
            numbers("RPC/UDP", "rpc_udp_us", micros("ipc.rpc_udp_latency", "placement=same_cpu")),
            numbers("TCP", "tcp_us", micros("ipc.tcp_latency", "placement=same_cpu")),
            numbers("RPC/TCP", "rpc_tcp_us", micros("ipc.rpc_tcp_latency", "placement=same_cpu")),
        ],
        rows: TODAY,
        sort: Some((5, SMALLEST_FIRST, Sorted::All)),
    },
    Table {
        title: "Table 7. Files created and deleted a second, sorted by deletion",
        source: "table7_file_operations",
        note: "",
        columns: &[
            MACHINE,
            SYSTEM,
            words("file system", "fs_type", Today::Fact("filesystem.target.type")),
            numbers(
                "create",
                "create_per_s",
                Today::Figure("file.create", "size=0B,durability=none,place=target", A_SECOND),
            ),
            numbers(
                "delete",
                "delete_per_s",
                Today::Figure("file.delete", "size=0B,durability=none,place=target", A_SECOND),
            ),
        ],
        rows: TODAY,
        sort: Some((4, LARGEST_FIRST, Sorted::All)),
    },
];
