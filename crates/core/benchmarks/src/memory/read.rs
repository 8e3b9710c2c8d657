//! Reading: a sum.

use kernels::stream::StreamKind;

use super::{arrays, streaming};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.read",
    title: "memory read",
    about: "Sums an array through registers of one `width`: 64-bit integers, doubles, the widest vectors, or the best \
            of a few variants. The working set is all arrays of all threads together. Arrays are walked in pieces of \
            1 to 2 MiB.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes read"),
    class: Class::Bandwidth,
    stresses: &[Primitive::DramRead],
    usual: true,
    sources: &[
        DefinitionSource::new("lmbench", "bw_mem rd", "L. McVoy and C. Staelin, USENIX ATC 1996")
            .near("vector registers or words of 64 bits, where frd adds integers of 32 bits and rd only every fourth"),
        DefinitionSource::new("RAMspeed", "reading", "R. Hollander and P. Bolotoff, RAMspeed"),
        DefinitionSource::new("CyberLife", "RAMspeed, reading", "CyberLife Labs notes, 2004").near(ASSUMED),
        DefinitionSource::new("BaBar", "table 1, memory read", "T. Pavel, CHEP 98")
            .near("vector registers, where the source adds integers"),
    ],
    parameters: &[
        streaming::working_set(),
        Parameter::threads(&["1", "all"]),
        Parameter::choice("width", &["integer", "double", "vector", "best"], &["vector"]),
        streaming::pages(),
    ],
    parties: Parties::Threads,
    shares: Some(arrays::SHARES),
    prepare: |at, context| streaming::prepare(StreamKind::Read, at, context),
    ..Benchmark::BLANK
};

const ASSUMED: &str = "the source does not name the RAMspeed test; its integer test is assumed";
