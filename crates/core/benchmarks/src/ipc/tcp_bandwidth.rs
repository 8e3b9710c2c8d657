//! Data over a TCP connection on the loopback.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use os::socket::{congestion, effective_buffers, set_congestion, set_receive_buffer, set_send_buffer};

use crate::line::accept_from;
use crate::prelude::*;
use crate::stream::{BLOCK, DATA, StreamKernel};

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "ipc.tcp_bandwidth",
    title: "TCP bandwidth, loopback",
    about: "Another process writes blocks into a loopback TCP connection, and this one reads them. Bytes count once, \
            as moved. With `data=copied` only the kernel copies them. With `touched` the writer also writes every \
            word before, and the reader sums every word after. Buffers are the largest that the system grants, or \
            sized by the system as it goes. With `congestion=unpaced`, reno replaces a congestion control that paces \
            (bbr, on the loopback too). Without losses, reno sends all that fits.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes moved"),
    class: Class::Ipc,
    stresses: &[Primitive::KernelCopy, Primitive::TcpStack, Primitive::ContextSwitch],
    sources: &[
        DefinitionSource::new("lmbench", "bw_tcp", "McVoy & Staelin, USENIX ATC 1996"),
        DefinitionSource::new("DAISy/HEAT", "table 9, local", "section 6.6.1.2"),
    ],
    parameters: &[
        BLOCK,
        Parameter::choice("buffers", &["autotuning", "largest"], &["autotuning", "largest"]),
        Parameter::choice("data", DATA, &["copied"]),
        Parameter::choice("congestion", &["unpaced", "system"], &["unpaced"]),
        Parameter::placement(&["same_cpu"]),
    ],
    parties: Parties::Placed,
    prepare,
    ..Benchmark::BLANK
};

/// More than the system grants to an unprivileged user: the kernel reduces it to its limit (net.core.rmem_max,
/// wmem_max).
const MOST: usize = 1 << 30;
/// The congestion control that every kernel has and that everyone may choose (tcp(7)).
const UNPACED: &str = "reno";

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let largest = at.choice("buffers")? == "largest";
    // The reader accepts: its buffer must be set before the connection, and a connection inherits that of its listener
    // (tcp(7)).
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    if largest {
        set_receive_buffer(&listener, MOST)?;
    }
    let far = TcpStream::connect(listener.local_addr()?)?;
    let near = accept_from(&listener, &far)?;
    if largest {
        set_send_buffer(&far, MOST)?;
        if let (Ok((receive, _)), Ok((_, send))) = (effective_buffers(&near), effective_buffers(&far)) {
            context.note(format!("TCP buffers: receive {receive} bytes, send {send} bytes, as the kernel counts them"));
        }
    }
    if let Some(pacing) = congestion(&far).ok().filter(|name| name.starts_with("bbr")) {
        if at.choice("congestion")? == "unpaced" {
            set_congestion(&far, UNPACED)?;
            context.note(format!("congestion control {UNPACED} in place of the system's {pacing}, which paces"));
        } else {
            context
                .note(format!("congestion control {pacing}, which sends at the rate that it estimates for the path"));
        }
    }
    let [from, to] = [near, far].map(|stream| File::from(OwnedFd::from(stream)));
    let touched = at.choice("data")? == "touched";
    Ok(Trial::one(StreamKernel::start(context, (from, to), at.bytes("block")? as usize, touched)?))
}
