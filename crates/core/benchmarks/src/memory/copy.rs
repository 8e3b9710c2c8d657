//! a = b: the copy kernel.

use kernels::stream::StreamKind;

use super::streaming;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.copy",
    title: "memory copy",
    about: "Copies an array of doubles to another, a = b. Bytes read and written both count. The working set is all \
            arrays of all threads together. Arrays are walked in pieces of 1 to 2 MiB. With `stores=normal` the code \
            is plain. For `best`, trials at the start of the run compare a few variants (streaming stores, four \
            concurrent streams). The first within 12% of the fastest is used and named.",
    key: &[
        (1, "memory bandwidth, all CPUs", "threads=all"),
        (3, "memory bandwidth, one CPU", "threads=1,stores=best"),
        (4, "memory bandwidth, one CPU", "threads=1"),
    ],
    sources: &[
        DefinitionSource::new("STREAM", "Copy", "J. McCalpin, IEEE TCCA newsletter, December 1995"),
        DefinitionSource::new("BaBar", "result 4", "T. Pavel, CHEP 98"),
    ],
    parameters: &[
        streaming::working_set(),
        Parameter::threads(&["1", "all"]),
        streaming::stores(&["normal", "best"]),
        streaming::pages(),
    ],
    arrays: 2,
    prepare: |at, context| streaming::prepare(StreamKind::Copy, at, context),
    ..streaming::STREAM
};
