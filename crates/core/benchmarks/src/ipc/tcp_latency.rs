//! Round trip over TCP.

use crate::echo::EchoKernel;
use crate::line::tcp_pair;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "ipc.tcp_latency",
    title: "TCP round trip, loopback",
    about: "One byte goes to another process over a loopback connection without delayed sending, and its answer \
            returns.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "round trip"),
    class: Class::Ipc,
    stresses: &[Primitive::TcpStack, Primitive::ContextSwitch, Primitive::Wakeup],
    usual: true,
    key: &[(70, "TCP round trip, same core", "placement=same_cpu")],
    sources: &[
        DefinitionSource::new("BaBar", "table 6, TCP", "T. J. Pavel, CHEP 98"),
        DefinitionSource::new("lmbench", "lat_tcp", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    parameters: &[Parameter::placement(&["same_cpu"])],
    parties: Parties::Placed,
    prepare: |_, context| Ok(Trial::one(EchoKernel::<1>::start(context, tcp_pair()?)?)),
    ..Benchmark::BLANK
};
