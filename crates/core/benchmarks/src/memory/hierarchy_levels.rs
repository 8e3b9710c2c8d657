//! Number of levels of the memory hierarchy.

use super::hierarchy::{BATCH, SHARES, curve, found, reading};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.hierarchy_levels",
    title: "levels of memory",
    about: found!(
        "The number of levels of memory, main memory included. A level counts if a sample finds it at least 15% slower than the one before."
    ),
    metric: BenchmarkMetric::higher(Unit::Count, "levels"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::CacheLatency],
    batch: BATCH,
    shares: Some(SHARES),
    prepare: |_, context| {
        let curve = curve(context)?;
        // Known before the first sample, so that no sample can find one more.
        reading(curve, |curve| Ok(curve.steps()? as f64))
    },
    ..Benchmark::BLANK
};
