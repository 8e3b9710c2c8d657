//! Latencies of the levels of the memory hierarchy.

use super::hierarchy::{BATCH, SHARES, curve, found, reading};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.hierarchy_latency",
    title: "level latency",
    about: found!(
        "The time of a dependent load from one level of the memory hierarchy: caches first, then main memory."
    ),
    metric: BenchmarkMetric::lower(Unit::Seconds, "load"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::CacheLatency, Primitive::DramLatency],
    usual: true,
    key: &[(10, "memory latency", "level=memory")],
    sources: &[DefinitionSource::new(
        "DAISy/HEAT",
        "result 16",
        "lmbench results of the DAISy and HEAT clusters, 1996",
    )],
    parameters: &[Parameter::choice("level", &["1", "2", "3", "4", "memory"], &["1", "2", "3", "memory"])],
    batch: BATCH,
    shares: Some(SHARES),
    prepare: |at, context| {
        let level = at.choice("level")?.parse::<usize>().ok();
        let curve = curve(context)?;
        let levels = curve.borrow().levels();
        if level.is_some_and(|level| level >= levels) {
            return Err(Unsupported::new(format!(
                "below main memory the latency curve shows levels up to {}",
                levels - 1
            )));
        }
        let index = level.unwrap_or(levels) - 1;
        reading(curve, move |curve| curve.latency(index))
    },
    ..Benchmark::BLANK
};
