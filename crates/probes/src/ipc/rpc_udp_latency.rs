//! Round trip of a remote procedure call over UDP.

use super::remote::Remote;
use crate::line::udp_pair;
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "ipc.rpc_udp_latency",
    title: "RPC over UDP latency, loopback",
    about: "Calls a procedure of another process with one character by ONC RPC in datagrams (RFC 5531, XDR) and checks the reply's \
            transaction and result. Messages are written and read directly: neither side polls, and nothing is sent again.",
    metric: ProbeMetric::lower(Unit::Seconds, "round trip"),
    class: Class::Ipc,
    stresses: &[Primitive::UdpStack, Primitive::ContextSwitch, Primitive::Wakeup],
    sources: &[
        DefinitionSource::new("BaBar", "table 6, RPC/UDP", "T. J. Pavel, CHEP 98"),
        DefinitionSource::new("lmbench", "lat_rpc -p udp", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    axes: &[Axis::placement(&["same_cpu"])],
    parties: Parties::Placed,
    prepare: |_, context| Ok(Trial::one(Remote::<0>::start(context, udp_pair()?)?)),
    ..Probe::BLANK
};
