//! Tape streaming as Choutko and Klimentov printed it: a way, a command and a block size a row.

use super::super::describe::{Description, MEGABYTES, Rows, Table, Today, numbers, words};

const fn rate(id: &'static str, point: &'static str) -> Today {
    Today::Figure(id, point, MEGABYTES)
}

/// The printed row's way, command and block size, and what continues it.
const WAYS: &[(&str, Today)] = &[
    ("write (from RAID5 to LTO) tar 10", rate("file.sequential_write", "block=10KiB,format=tar,medium=target")),
    ("write (from RAID5 to LTO) tar 20", rate("file.sequential_write", "block=20KiB,format=tar,medium=target")),
    ("write (from RAID5 to LTO) dd 16", rate("file.sequential_write", "block=16KiB,format=plain,medium=target")),
    ("write (from RAID5 to LTO) dd 128", rate("file.sequential_write", "block=128KiB,format=plain,medium=target")),
    ("read (from LTO to NULL) dd 128", rate("file.sequential_read", "block=128KiB,format=plain,medium=target")),
    ("read (from LTO to RAID5) tar 10", rate("file.sequential_read", "block=10KiB,format=tar,medium=target")),
];

const PLAIN: &str = "block={},format=plain,medium=target";
const TAR: &str = "block={},format=tar,medium=target";

pub(super) static EVALUATION: Description = Description {
    suite: "tape",
    published: "ams02-2002",
    title: "Streaming to and from a sequential medium",
    definition: "",
    tables: &[
        Table {
            title: "Tape streaming (MB/s), in the printed order",
            source: "table6_tape_streaming",
            note: "A block of n KB is n x 1024 bytes, which is how dd and tar count; a MB is 10^6 bytes. The last two columns are \
                   this run's, between memory and its medium, where the printed rows but one had a RAID5 at the other end. dd: \
                   plain blocks that no drive can compress; tar: the records of a tar stream.",
            columns: &[
                words("mode", "mode", Today::Words("")),
                words("command", "command", Today::Words("")),
                numbers("block KB", "block_size_kb", Today::Words("")),
                numbers("LTO, 2002", "rate_mb_s", Today::Words("")),
                numbers("this medium", "", Today::Each { of: WAYS, interval: false }),
                numbers("its interval", "", Today::Each { of: WAYS, interval: true }),
            ],
            rows: Rows::Tests { columns: &["mode", "command", "block_size_kb"] },
            sort: None,
        },
        Table {
            title: "The same medium in the blocks that drives of today are given (MB/s)",
            source: "",
            note: "",
            columns: &[
                words("medium", "", Today::Fact("target.medium")),
                words("block", "", Today::Key),
                numbers("write", "", rate("file.sequential_write", PLAIN)),
                numbers("write tar", "", rate("file.sequential_write", TAR)),
                numbers("read", "", rate("file.sequential_read", PLAIN)),
                numbers("read tar", "", rate("file.sequential_read", TAR)),
            ],
            rows: Rows::Machines { today: &["64KiB", "256KiB", "1MiB"] },
            sort: None,
        },
    ],
};
