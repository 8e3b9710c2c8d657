//! a = b + c: the add kernel.

use kernels::stream::StreamKind;

use super::streaming;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.add",
    title: "memory add",
    about: "Adds two arrays of doubles, a = b + c. Bytes read and written both count. The working set is all arrays of all threads together; arrays are walked in pieces of 1 to 2 MiB. `stores=normal` is what plain code gets; `best` is the fastest of a few variants (streaming stores, four concurrent streams) in trials when the run begins, or the first within an eighth of it, which is named.",
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
