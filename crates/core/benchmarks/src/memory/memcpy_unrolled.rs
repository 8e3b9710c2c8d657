//! memcpy by an unrolled loop.

use super::copying;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.memcpy_unrolled",
    title: "memcpy by an unrolled loop",
    about: "Copies memory with an unrolled loop of 64-bit loads and stores, without a library. Bytes count once, as \
            copied. The working set is source and destination together. Both are walked in pieces of 1 to 2 MiB.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes copied"),
    class: Class::Bandwidth,
    stresses: &[Primitive::DramRead, Primitive::DramWrite],
    sources: &[
        DefinitionSource::new("lmbench", "bw_mem fcp", "L. McVoy and C. Staelin, USENIX ATC 1996").near(WIDTH),
        DefinitionSource::new("BaBar", "table 1, memcpy (unrolled)", "T. Pavel, CHEP 98")
            .near("by words of 64 bits, where the source copies integers of 32 bits"),
    ],
    parameters: &[Parameter::doubling("working_set", KIB, GIB, &["256MiB"]).of_memory()],
    shares: Some(super::arrays::SHARES),
    prepare: |at, context| copying::prepare(kernels::copy::memcpy_unrolled, copying::PieceLength::About, at, context),
    ..Benchmark::BLANK
};

const WIDTH: &str = "by words of 64 bits, where the source copies integers of 32 bits";
