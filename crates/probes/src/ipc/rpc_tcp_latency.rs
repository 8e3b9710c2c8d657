//! Round trip of a remote procedure call over TCP.

use super::remote::Remote;
use crate::line::tcp_pair;
use crate::prelude::*;
use crate::rpc::MARK_BYTES;

pub(super) static PROBE: Probe = Probe {
    id: "ipc.rpc_tcp_latency",
    title: "RPC over TCP latency, loopback",
    about: "Calls a procedure of another process with one character by ONC RPC over a connection (RFC 5531 with record marking, XDR) \
            and checks the reply's transaction and result. Messages are written and read directly: neither side polls.",
    metric: ProbeMetric::lower(Unit::Seconds, "round trip"),
    class: Class::Ipc,
    stresses: &[Primitive::TcpStack, Primitive::ContextSwitch, Primitive::Wakeup],
    sources: &[
        DefinitionSource::new("BaBar", "table 6, RPC/TCP", "T. J. Pavel, CHEP 98"),
        DefinitionSource::new("lmbench", "lat_rpc -p tcp", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    axes: &[Axis::placement(&["same_cpu"])],
    parties: Parties::Placed,
    prepare: |_, context| Ok(Trial::one(Remote::<MARK_BYTES>::start(context, tcp_pair()?)?)),
    ..Probe::BLANK
};
