//! lmbench on the DAISy and HEAT clusters: tables 8 to 11, and figure 16 with its plateaus. The published machines are sorted;
//! the clusters follow as printed.

use super::super::describe::{
    Column, Description, KIBIBYTES, MEGABYTES, NANOSECONDS, Rows, Sorted, Table, Today, numbers, words,
};

pub(super) static EVALUATION: Description = Description {
    suite: "daisy",
    published: "daisy-heat-1996",
    title: "lmbench on the DAISy and HEAT clusters",
    definition: "",
    tables: TABLES,
};

const SYSTEM: Column = words("system", "system", Today::Machine);
const GROUP: Column = words("group", "group", Today::Words("this run"));
const TODAY: Rows = Rows::Machines { today: &[""] };
const PUBLISHED: Sorted = Sorted::Where("group", "published");
const STRIDED: &str = "memory.load_latency_strided";

const fn megabytes(id: &'static str, point: &'static str) -> Today {
    Today::Figure(id, point, MEGABYTES)
}

const TABLES: &[Table] = &[
    Table {
        title: "Table 8. Pipe bandwidth (MB/s)",
        source: "table8_bw_pipe",
        note: "Both processes on one CPU, blocks of 64 KiB.",
        columns: &[
            SYSTEM,
            GROUP,
            numbers(
                "bw_pipe",
                "bw_pipe_mb_s",
                megabytes("ipc.pipe_bandwidth", "block=64KiB,capacity=64KiB,placement=same_cpu"),
            ),
        ],
        rows: TODAY,
        sort: Some((2, true, PUBLISHED)),
    },
    Table {
        title: "Table 9. TCP bandwidth (MB/s)",
        source: "table9_bw_tcp",
        note: "Local: over the loopback with the largest buffers, both ends on one CPU.",
        columns: &[
            SYSTEM,
            words("network", "network", Today::Words("loopback")),
            GROUP,
            numbers(
                "bw_tcp local",
                "bw_tcp_local_mb_s",
                megabytes("ipc.tcp_bandwidth", "block=64KiB,buffers=largest,placement=same_cpu"),
            ),
            numbers(
                "bw_tcp remote",
                "bw_tcp_remote_mb_s",
                Today::Absent("bw_tcp to another host needs one: prony net stream measures it"),
            ),
        ],
        rows: TODAY,
        sort: Some((4, true, PUBLISHED)),
    },
    Table {
        title: "Table 10. Reread of cached files (MB/s)",
        source: "table10_cached_io",
        note: "",
        columns: &[
            SYSTEM,
            GROUP,
            numbers("bw_file_rd", "bw_file_rd_mb_s", megabytes("file.read_cached", "data=touched,place=target")),
            numbers("bw_mmap_rd", "bw_mmap_rd_mb_s", megabytes("file.mmap_read", "mapping=once,place=target")),
        ],
        rows: TODAY,
        sort: Some((2, true, PUBLISHED)),
    },
    Table {
        title: "Table 11. Memory latency (ns)",
        source: "table11_memory_latency",
        note: "Loads 128 bytes apart through 64 MiB, prefetchers and all, as the table was made.",
        columns: &[
            SYSTEM,
            GROUP,
            numbers(
                "lat_mem_rd",
                "lat_mem_rd_ns",
                Today::Figure(STRIDED, "working_set=64MiB,stride=128B", NANOSECONDS),
            ),
        ],
        rows: TODAY,
        sort: Some((2, false, PUBLISHED)),
    },
    Table {
        title: "Figure 16. Memory latency by working set (ns, stride of 128 bytes)",
        source: "",
        note: "The values of the figure are not printed; today's machine stands alone.",
        columns: &[
            words("working set", "", Today::Key),
            numbers("lat_mem_rd", "", Today::Figure(STRIDED, "working_set={},stride=128B", NANOSECONDS)),
            numbers("its interval", "", Today::Interval(STRIDED, "working_set={},stride=128B", NANOSECONDS)),
        ],
        rows: Rows::Given(&[
            "4KiB", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "512KiB", "1MiB", "2MiB", "4MiB", "8MiB",
            "16MiB", "32MiB", "64MiB",
        ]),
        sort: None,
    },
    Table {
        title: "The plateaus of figure 16: sizes (KiB) and latencies (ns) of the levels",
        source: "",
        note: "Read off this machine's own curve, by the ends of its steps.",
        columns: &[
            words("level", "", Today::Key),
            numbers("size", "", Today::Figure("memory.hierarchy", "level={}", KIBIBYTES)),
            numbers("its interval", "", Today::Interval("memory.hierarchy", "level={}", KIBIBYTES)),
            numbers("latency", "", Today::Figure("memory.hierarchy_latency", "level={}", NANOSECONDS)),
            numbers("its interval", "", Today::Interval("memory.hierarchy_latency", "level={}", NANOSECONDS)),
        ],
        rows: Rows::Given(&["1", "2", "3"]),
        sort: None,
    },
    Table {
        title: "The last plateau: main memory (ns)",
        source: "",
        note: "",
        columns: &[
            words("level", "", Today::Key),
            numbers("latency", "", Today::Figure("memory.hierarchy_latency", "level={}", NANOSECONDS)),
            numbers("its interval", "", Today::Interval("memory.hierarchy_latency", "level={}", NANOSECONDS)),
        ],
        rows: Rows::Given(&["memory"]),
        sort: None,
    },
];
