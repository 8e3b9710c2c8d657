//! a = b + c: the add kernel.

use kernels::stream::StreamKind;

use super::streaming;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.add",
    title: "memory add",
    about: "Adds two arrays of doubles, a = b + c. Bytes read and written both count. The working set is all arrays \
            of all threads together. Arrays are walked in pieces of 1 to 2 MiB. With `stores=normal` the code is \
            plain. For `best`, trials at the start of the run compare a few variants (streaming stores, four \
            concurrent streams). The first within 12% of the fastest is used and named.",
    sources: &[DefinitionSource::new("STREAM", "Add", "J. McCalpin, IEEE TCCA newsletter, December 1995")],
    parameters: &[
        streaming::working_set(),
        Parameter::threads(&["1"]),
        streaming::stores(&["normal", "best"]),
        streaming::pages(),
    ],
    arrays: 3,
    prepare: |at, context| streaming::prepare(StreamKind::Add, at, context),
    ..streaming::STREAM
};
