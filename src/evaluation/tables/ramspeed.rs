//! RAMspeed by block size, as CyberLife Labs printed it: two columns a machine.

use super::super::describe::{Description, MEGABYTES, Rows, Table, Today, numbers, words};

const READING: &str = "working_set={}KiB,threads=1,width=integer";
const WRITING: &str = "working_set={}KiB,threads=1,width=integer,stores=normal";

pub(super) static EVALUATION: Description = Description {
    suite: "ramspeed",
    published: "cyberlife-2004",
    title: "RAMspeed on two near-identical machines",
    definition: "",
    tables: &[Table {
        title: "RAMspeed (MB/s) by block size (KB), in the printed order",
        source: "ramspeed",
        note: "The two columns of each machine have no heading: by their size the first is taken as reading, the second as \
               writing, by 64-bit integers. The last four columns are this run's. A block of n KB is n x 1024 bytes.",
        columns: &[
            words("KB", "block_size_kb", Today::Key),
            numbers("appserver", "appserver.geo_first", Today::Words("")),
            numbers("2nd", "appserver.geo_second", Today::Words("")),
            numbers("beastie", "beastie.lab_first", Today::Words("")),
            numbers("2nd", "beastie.lab_second", Today::Words("")),
            numbers("reading", "", Today::Figure("memory.read", READING, MEGABYTES)),
            numbers("its interval", "", Today::Interval("memory.read", READING, MEGABYTES)),
            numbers("writing", "", Today::Figure("memory.write", WRITING, MEGABYTES)),
            numbers("its interval", "", Today::Interval("memory.write", WRITING, MEGABYTES)),
        ],
        rows: Rows::Tests { columns: &["block_size_kb"] },
        sort: None,
    }],
};
