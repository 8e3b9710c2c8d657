//! Round trip over pipes.

use crate::echo::EchoKernel;
use crate::line::pipes;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "ipc.pipe_latency",
    title: "pipe round trip",
    about: "One byte goes to another process through a pipe, and its answer returns through a second pipe.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "round trip"),
    class: Class::Ipc,
    stresses: &[Primitive::Pipe, Primitive::ContextSwitch, Primitive::Wakeup],
    usual: true,
    key: &[(61, "pipe round trip, same core", "placement=same_cpu")],
    sources: &[
        DefinitionSource::new("BaBar", "table 6, pipe", "T. J. Pavel, CHEP 98"),
        DefinitionSource::new("lmbench", "lat_pipe", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    parameters: &[Parameter::placement(&["same_cpu", "cross_cpu", "free"])],
    parties: Parties::Placed,
    prepare: |_, context| Ok(Trial::one(EchoKernel::<1>::start(context, pipes()?)?)),
    ..Benchmark::BLANK
};
