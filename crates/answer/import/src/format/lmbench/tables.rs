//! The tables of a summary: their headings, as both lines' words, and what stands in their columns.

use model::Unit;

/// Content of a column: an id of this program or lmbench's, and the parameters. An empty id is skipped.
type LmbenchColumn = (&'static str, &'static str);

pub(super) struct LmbenchTable {
    pub(super) title: &'static str,
    /// Words of the heading's lines behind `Host OS`, in one spelling (see [`spelt`]).
    pub(super) heading: &'static str,
    pub(super) scale: f64,
    pub(super) unit: Unit,
    pub(super) columns: &'static [LmbenchColumn],
}

const FREE: &str = "placement=free";

/// The column with the number of copies that ran at once.
pub(super) const LOAD: &str = "scaling load";

/// The words of a heading, in the spelling of this table: versions shorten `select` in three ways.
pub(super) fn spelt(words: &str) -> String {
    let word = |word: &str| if ["selct", "select"].contains(&word) { "slct".to_owned() } else { word.to_owned() };
    words.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

pub(super) static TABLES: &[LmbenchTable] = &[
    LmbenchTable {
        title: "Processor, Processes - times in microseconds",
        heading: "Mhz null null open slct sig sig fork exec sh call I/O stat clos TCP inst hndl proc proc proc",
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
        heading: "intgr intgr intgr intgr intgr bit add mul div mod",
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
        heading: "int64 int64 int64 int64 int64 bit add mul div mod",
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
        heading: "float float float float add mul div bogo",
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
        heading: "double double double double add mul div bogo",
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
        heading: "2p/0K 2p/16K 2p/64K 8p/16K 8p/64K 16p/16K 16p/64K ctxsw ctxsw ctxsw ctxsw ctxsw ctxsw ctxsw",
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
        heading: "2p/0K Pipe AF UDP RPC/ TCP RPC/ TCP ctxsw UNIX UDP TCP conn",
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
        heading: "UDP RPC/ TCP RPC/ TCP UDP TCP conn",
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
        heading: "0K File 10K File Mmap Prot Page 100fd Create Delete Create Delete Latency Fault Fault slct",
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
        heading: "Pipe AF TCP File Mmap Bcopy Bcopy Mem Mem UNIX reread reread (libc) (hand) read write",
        scale: 1e6,
        unit: Unit::BytesPerSecond,
        columns: &[
            ("ipc.pipe_bandwidth", "block=64KiB"),
            ("ipc.unix_bandwidth", ""),
            ("ipc.tcp_bandwidth", "congestion=system"),
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
        heading: "Mhz L1 $ L2 $ Main mem Rand mem Guesses",
        scale: 1e-9,
        unit: Unit::Seconds,
        columns: &[
            ("cpu.clock", ""),
            ("lmbench.l1_latency", ""),
            ("lmbench.l2_latency", ""),
            ("memory.load_latency_strided", ""),
            ("memory.load_latency", ""),
            // Words on what the numbers may mean.
            ("", ""),
        ],
    },
    // Version 2 and early ones of 3.
    LmbenchTable {
        title: "Memory latencies in nanoseconds",
        heading: "Mhz L1 $ L2 $ Main mem Guesses",
        scale: 1e-9,
        unit: Unit::Seconds,
        columns: &[
            ("cpu.clock", ""),
            ("lmbench.l1_latency", ""),
            ("lmbench.l2_latency", ""),
            ("memory.load_latency_strided", ""),
            ("", ""),
        ],
    },
    LmbenchTable {
        title: "File & VM system latencies in microseconds",
        heading: "0K File 10K File Mmap Prot Page Create Delete Create Delete Latency Fault Fault",
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
        ],
    },
    // Version 1.9; what 1.0 and 1.1 name are other columns.
    LmbenchTable {
        title: "Processor, Processes - times in microseconds",
        heading: "Mhz null null open slct sig sig fork exec sh call I/O stat clos inst hndl proc proc proc",
        scale: 1e-6,
        unit: Unit::Seconds,
        columns: &[
            ("cpu.clock", ""),
            ("os.syscall_getppid", ""),
            ("lmbench.null_io", ""),
            ("lmbench.stat", ""),
            ("lmbench.open_close", ""),
            ("lmbench.select", ""),
            ("os.signal_install", ""),
            ("os.signal_handle", ""),
            ("os.fork_exit", ""),
            ("os.fork_exec", "linking=dynamic,program=hello"),
            ("os.fork_shell", "linking=dynamic"),
        ],
    },
    LmbenchTable {
        title: "Basic system parameters",
        heading: "Description Mhz",
        scale: 1.0,
        unit: Unit::Count,
        columns: &[("", ""), ("cpu.clock", "")],
    },
    LmbenchTable {
        title: "Basic system parameters",
        heading: "Description Mhz tlb cache mem scal pages line par load bytes",
        scale: 1.0,
        unit: Unit::Count,
        columns: &[("", ""), ("cpu.clock", ""), ("", ""), ("", ""), ("lmbench.memory_parallelism", ""), (LOAD, "")],
    },
];
