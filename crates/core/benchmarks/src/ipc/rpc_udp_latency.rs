//! Round trip of a remote procedure call over UDP.

use super::remote::{DIRECT, MESSAGES, OWN, Remote};
use super::rpc_library::LibraryCalls;
use crate::line::udp_pair;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "ipc.rpc_udp_latency",
    title: "RPC over UDP round trip, loopback",
    about: "Calls a procedure of another process with one character by ONC RPC in datagrams (RFC 5531, XDR). The \
            reply's transaction and result are checked. With `messages=direct` the messages are Prony's own; neither \
            side polls, and nothing is sent again. With `polled` both sides poll before they read, as RPC libraries \
            do. With `library` both sides use the system's RPC library (libtirpc).",
    metric: BenchmarkMetric::lower(Unit::Seconds, "round trip"),
    class: Class::Ipc,
    stresses: &[Primitive::UdpStack, Primitive::ContextSwitch, Primitive::Wakeup],
    sources: &[
        DefinitionSource::new("BaBar", "table 6, RPC/UDP", "T. J. Pavel, CHEP 98").at("messages=library"),
        DefinitionSource::new("BaBar", "table 6, RPC/UDP", "T. J. Pavel, CHEP 98").at("messages=polled").near(OWN),
        DefinitionSource::new("BaBar", "table 6, RPC/UDP", "T. J. Pavel, CHEP 98").other(DIRECT),
        DefinitionSource::new("lmbench", "lat_rpc -p udp", "McVoy & Staelin, USENIX ATC 1996").at("messages=library"),
        DefinitionSource::new("lmbench", "lat_rpc -p udp", "McVoy & Staelin, USENIX ATC 1996")
            .at("messages=polled")
            .near(OWN),
        DefinitionSource::new("lmbench", "lat_rpc -p udp", "McVoy & Staelin, USENIX ATC 1996").other(DIRECT),
    ],
    parameters: &[MESSAGES, Parameter::placement(&["same_cpu"])],
    parties: Parties::Placed,
    prepare: |at, context| match at.choice("messages")? {
        "library" => Ok(Trial::one(LibraryCalls::start(context, "udp")?)),
        how => Ok(Trial::one(Remote::<0>::start(context, udp_pair()?, how == "polled")?)),
    },
    ..Benchmark::BLANK
};
