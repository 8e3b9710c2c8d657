//! Round trip over a local stream socket.

use crate::echo::EchoKernel;
use crate::line::unix_pair;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "ipc.unix_latency",
    title: "local socket round trip",
    about: "One byte goes to another process over a connected pair of local stream sockets, and its answer returns.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "round trip"),
    class: Class::Ipc,
    stresses: &[Primitive::UnixSocket, Primitive::ContextSwitch, Primitive::Wakeup],
    usual: true,
    sources: &[DefinitionSource::new("lmbench", "lat_unix", "McVoy & Staelin, USENIX ATC 1996")],
    parameters: &[Parameter::placement(&["same_cpu"])],
    parties: Parties::Placed,
    prepare: |_, context| Ok(Trial::one(EchoKernel::<1>::start(context, unix_pair()?)?)),
    ..Benchmark::BLANK
};
