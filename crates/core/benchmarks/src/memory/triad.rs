//! a = b + q * c: the triad kernel.

use kernels::stream::StreamKind;

use super::streaming;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.triad",
    title: "memory triad",
    about: "Adds an array of doubles to a multiple of another, a = b + q * c. Bytes read and written both count. The \
            working set is all arrays of all threads together. Arrays are walked in pieces of 1 to 2 MiB. With \
            `stores=normal` the code is plain. For `best`, trials at the start of the run compare a few variants \
            (streaming stores, four concurrent streams). The first within 12% of the fastest is used and named.",
    key: &[(0, "memory bandwidth, all CPUs", "threads=all"), (2, "memory bandwidth, one CPU", "threads=1,stores=best")],
    // STREAM's triad reaches three fifths of the transfers of all channels or more, if the cores are enough to ask for
    // them (streambench.org; J. McCalpin, sites.utexas.edu/jdm4372).
    expected: &[("threads=all,stores=best", PartLimit::DramBandwidth, 0.6, 1.0)],
    sources: &[
        DefinitionSource::new("STREAM", "Triad", "J. McCalpin, IEEE TCCA newsletter, December 1995"),
        DefinitionSource::new("BaBar", "result 4", "T. Pavel, CHEP 98"),
    ],
    parameters: &[
        streaming::working_set(),
        Parameter::threads(&["1", "all"]),
        streaming::stores(&["normal", "best"]),
        streaming::pages(),
    ],
    arrays: 3,
    prepare: |at, context| streaming::prepare(StreamKind::Triad, at, context),
    ..streaming::STREAM
};
