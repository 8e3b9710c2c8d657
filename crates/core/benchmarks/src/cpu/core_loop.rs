//! One chain of additions on each CPU by itself: cores of one kind agree in it.

use super::counting;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.core_loop",
    title: "loop on one core",
    about: "Adds a constant repeatedly in one chain, on the CPU `cpu`. The value is time, not cycles, so a core with \
            a lower clock is slower. With `each`, one CPU of every core is used, of up to 64 cores. On a larger \
            machine, these are 64 cores spread evenly over it.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "addition"),
    stresses: &[Primitive::CoreClock],
    sources: &[DefinitionSource::new("lmbench", "lat_ops", "C. Staelin, lmbench 3").near("on each CPU by itself")],
    parameters: &[Parameter::numbered("cpu", &["0"])],
    parties: Parties::Named,
    batch: BatchRule { batches: Some(5), ..counting::BATCH },
    domain: Some(|_| model::Domain::Mixed),
    prepare: |_, context| counting::strongest("add_latency_i32", |one| one.iteration.ops, context),
    ..Benchmark::BLANK
};
