//! Round trip of a remote procedure call over TCP.

use super::remote::{DIRECT, MESSAGES, OWN, Remote};
use super::rpc_library::LibraryCalls;
use crate::line::tcp_pair;
use crate::prelude::*;
use crate::rpc::MARK_BYTES;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "ipc.rpc_tcp_latency",
    title: "RPC over TCP round trip, loopback",
    about: "Calls a procedure of another process with one character by ONC RPC over a connection (RFC 5531 with \
            record marking, XDR). The reply's transaction and result are checked. With `messages=direct` the messages \
            are Prony's own, and neither side polls. With `polled` both sides poll before they read, as RPC libraries \
            do. With `library` both sides use the system's RPC library (libtirpc).",
    metric: BenchmarkMetric::lower(Unit::Seconds, "round trip"),
    class: Class::Ipc,
    stresses: &[Primitive::TcpStack, Primitive::ContextSwitch, Primitive::Wakeup],
    sources: &[
        DefinitionSource::new("BaBar", "table 6, RPC/TCP", "T. J. Pavel, CHEP 98").at("messages=library"),
        DefinitionSource::new("BaBar", "table 6, RPC/TCP", "T. J. Pavel, CHEP 98").at("messages=polled").near(OWN),
        DefinitionSource::new("BaBar", "table 6, RPC/TCP", "T. J. Pavel, CHEP 98").other(DIRECT),
        DefinitionSource::new("lmbench", "lat_rpc -p tcp", "McVoy & Staelin, USENIX ATC 1996").at("messages=library"),
        DefinitionSource::new("lmbench", "lat_rpc -p tcp", "McVoy & Staelin, USENIX ATC 1996")
            .at("messages=polled")
            .near(OWN),
        DefinitionSource::new("lmbench", "lat_rpc -p tcp", "McVoy & Staelin, USENIX ATC 1996").other(DIRECT),
    ],
    parameters: &[MESSAGES, Parameter::placement(&["same_cpu"])],
    parties: Parties::Placed,
    prepare: |at, context| match at.choice("messages")? {
        "library" => Ok(Trial::one(LibraryCalls::start(context, "tcp")?)),
        how => Ok(Trial::one(Remote::<MARK_BYTES>::start(context, tcp_pair()?, how == "polled")?)),
    },
    ..Benchmark::BLANK
};
