//! Latency of one load on which the next depends.

use kernels::ring::ChasePattern;

use super::chase::Chase;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.load_latency",
    title: "memory latency",
    about: "Follows one random cycle of pointers through the working set, with one load for each cache line. Each \
            load needs the one before, and no prefetcher can help. A batch is at least one full lap. Above 8 MiB it \
            is a part that begins where the last one ended. Sets of up to 8 MiB use up to 24 sets of pages in turn, \
            because pages decide which lines displace each other in a cache. The steps of the curve are the cache \
            levels. The slope after the last step is address translation.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "load"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::CacheLatency, Primitive::DramLatency, Primitive::Tlb],
    usual: true,
    // Suites move the working set beyond the caches of the machine.
    key: &[
        (11, "memory latency, 1 GiB", "working_set=1GiB"),
        (12, "memory latency, 512 MiB", "working_set=512MiB"),
        (13, "memory latency, 256 MiB", "working_set=256MiB"),
        (14, "memory latency, 128 MiB", "working_set=128MiB"),
        (15, "memory latency, 64 MiB", "working_set=64MiB"),
    ],
    expected: &[
        ("working_set=16KiB", PartLimit::FirstCache, 0.7, 1.25),
        ("working_set=256KiB", PartLimit::SecondCache, 0.5, 1.3),
    ],
    sources: &[
        DefinitionSource::new("lmbench", "lat_mem_rd -t", "L. McVoy and C. Staelin, USENIX ATC 1996"),
        DefinitionSource::new("multichase", "simple", "github.com/google/multichase"),
    ],
    parameters: &[
        Parameter::sizes("working_set", 4 * KIB, GIB, 4, &["32KiB", "1MiB", "64MiB"]).of_memory(),
        Parameter::choice("pages", &["base", "huge"], &["base"]),
    ],
    // Smaller sets fit one huge page, mostly unused: no further information.
    skips: |at| at.get("pages") == Some("huge") && at.bytes("working_set").is_ok_and(|bytes| bytes < 2 * MIB),
    prepare: |at, context| Ok(Trial::one(Chase::new(at, at.bytes("working_set")?, ChasePattern::Random, context)?)),
    ..Benchmark::BLANK
};
