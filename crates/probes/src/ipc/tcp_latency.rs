//! Round trip over TCP.

use crate::echo::RoundTrip;
use crate::line::tcp_pair;
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "ipc.tcp_latency",
    title: "TCP latency, loopback",
    about: "One byte goes to another process over a loopback connection without delayed sending and its answer comes back.",
    metric: Metric::lower(Unit::Seconds, "round trip"),
    class: Class::Ipc,
    stresses: &[Primitive::TcpStack, Primitive::ContextSwitch, Primitive::Wakeup],
    sources: &[
        Source::new("BaBar", "table 6, TCP", "T. J. Pavel, CHEP 98"),
        Source::new("lmbench", "lat_tcp", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    axes: &[Axis::placement(&["same_cpu"])],
    parties: Parties::Placed,
    prepare: |_, bench| Ok(Trial::one(RoundTrip::<1>::start(bench, tcp_pair()?)?)),
    ..Probe::BLANK
};
