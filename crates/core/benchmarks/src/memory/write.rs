//! Writing: a fill.

use kernels::stream::StreamKind;

use super::{arrays, streaming};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.write",
    title: "memory write",
    about: "Fills an array with a number through registers of one `width`: 64-bit integers, doubles, or the widest \
            vectors. The working set is all arrays of all threads together. Arrays are walked in pieces of 1 to 2 \
            MiB. With `stores=normal` the code is plain. For `best`, trials at the start of the run compare a few \
            variants (streaming stores, four concurrent streams). The first within 12% of the fastest is used and \
            named.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes written"),
    class: Class::Bandwidth,
    stresses: &[Primitive::DramWrite],
    sources: &[
        DefinitionSource::new("lmbench", "bw_mem wr", "L. McVoy and C. Staelin, USENIX ATC 1996").near(
            "vector registers or words of 64 bits, where fwr stores integers of 32 bits and wr only every fourth",
        ),
        DefinitionSource::new("RAMspeed", "writing", "R. Hollander and P. Bolotoff, RAMspeed"),
        DefinitionSource::new("CyberLife", "RAMspeed, writing", "CyberLife Labs notes, 2004").near(ASSUMED),
        DefinitionSource::new("BaBar", "table 1, memory write", "T. Pavel, CHEP 98")
            .near("vector registers, where the source stores integers"),
    ],
    parameters: &[
        streaming::working_set(),
        Parameter::threads(&["1", "all"]),
        Parameter::choice("width", &["integer", "double", "vector"], &["vector"]),
        streaming::stores(&["normal", "best"]),
        streaming::pages(),
    ],
    parties: Parties::Threads,
    shares: Some(arrays::SHARES),
    // Streaming stores and the choice of the best use the widest registers.
    skips: |at| at.get("stores") != Some("normal") && at.get("width") != Some("vector"),
    prepare: |at, context| streaming::prepare(StreamKind::Write, at, context),
    ..Benchmark::BLANK
};

const ASSUMED: &str = "the source does not name the RAMspeed test; its integer test is assumed";
