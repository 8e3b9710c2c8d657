//! STREAM in the columns of its tables of results: CPUs, copy, scale, add, triad.

use super::super::describe::{Description, MEGABYTES, Rows, Table, Today, numbers, words};

const POINT: &str = "working_set=256MiB,threads={},stores=normal";

const fn rate(id: &'static str) -> Today {
    Today::Figure(id, POINT, MEGABYTES)
}

pub(super) static EVALUATION: Description = Description {
    suite: "stream",
    published: "",
    title: "STREAM",
    definition: "definitions of J. D. McCalpin, \"Memory Bandwidth and Machine Balance in Current High Performance \
                 Computers\", IEEE TCCA Newsletter, December 1995",
    tables: &[Table {
        title: "STREAM (MB/s, bytes read and bytes written summed), arrays of 256 MiB in all",
        source: "",
        note: "Medians of launches, where STREAM prints the best of its passes.",
        columns: &[
            words("machine", "", Today::Machine),
            words("CPUs", "", Today::Key),
            numbers("COPY", "", rate("memory.copy")),
            numbers("SCALE", "", rate("memory.scale")),
            numbers("ADD", "", rate("memory.add")),
            numbers("TRIAD", "", rate("memory.triad")),
        ],
        rows: Rows::Machines { today: &["1", "all"] },
        sort: None,
    }],
};
