//! Latency of dependent loads at a constant stride.

use kernels::ring::ChasePattern;

use super::chase::Chase;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.load_latency_strided",
    title: "strided memory latency",
    about: "Follows pointers forward through the working set by `stride` and back to its start, as published tables \
            did. Each load needs the one before, but prefetchers foresee the walk. A batch is at least one full lap. \
            If a lap has more than 131072 loads, a batch is eight separate parts, each continuing where it last \
            ended.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "load"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::CacheLatency, Primitive::DramLatency, Primitive::Tlb],
    sources: &[
        DefinitionSource::new("lmbench", "lat_mem_rd", "L. McVoy and C. Staelin, USENIX ATC 1996"),
        DefinitionSource::new(
            "DAISy/HEAT",
            "table 11 and result 16",
            "lmbench results of the DAISy and HEAT clusters, 1996",
        ),
    ],
    parameters: &[
        Parameter::doubling("working_set", 4 * KIB, 256 * MIB, &["64MiB"]),
        Parameter::doubling("stride", 8, 32 * KIB, &["128B"]),
    ],
    // Fewer than four loads per lap do not characterise the set.
    skips: |at| at.bytes("working_set").and_then(|set| Ok(at.bytes("stride")? * 4 > set)).unwrap_or(true),
    prepare: |at, context| {
        let stride = at.bytes("stride")?;
        if !stride.is_multiple_of(8) {
            return Err(Unsupported::new(format!("pointers are 8 bytes apart, or a multiple of that, not {stride}")));
        }
        let order = ChasePattern::Strided(stride);
        Ok(Trial::one(Chase::new(at, at.bytes("working_set")?, order, context)?))
    },
    ..Benchmark::BLANK
};
