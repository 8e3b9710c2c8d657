//! Round trip over UDP.

use crate::echo::EchoKernel;
use crate::line::udp_pair;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "ipc.udp_latency",
    title: "UDP round trip, loopback",
    about: "A datagram of four bytes goes to another process over the loopback, and its answer returns. Both sockets \
            are connected.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "round trip"),
    class: Class::Ipc,
    stresses: &[Primitive::UdpStack, Primitive::ContextSwitch, Primitive::Wakeup],
    usual: true,
    sources: &[
        DefinitionSource::new("BaBar", "table 6, UDP", "T. J. Pavel, CHEP 98"),
        DefinitionSource::new("lmbench", "lat_udp", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    parameters: &[Parameter::placement(&["same_cpu"])],
    parties: Parties::Placed,
    prepare: |_, context| Ok(Trial::one(EchoKernel::<4>::start(context, udp_pair()?)?)),
    ..Benchmark::BLANK
};
