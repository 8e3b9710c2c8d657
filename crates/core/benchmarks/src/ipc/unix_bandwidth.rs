//! Data over a local stream socket.

use crate::line::unix_pair;
use crate::prelude::*;
use crate::stream::{BLOCK, DATA, StreamKernel};

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "ipc.unix_bandwidth",
    title: "local socket bandwidth",
    about: "Another process writes blocks into a pair of local stream sockets, and this one reads them. Bytes count \
            once, as moved. With `data=copied` only the kernel copies them. With `touched` the writer also writes \
            every word before, and the reader sums every word after.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes moved"),
    class: Class::Ipc,
    stresses: &[Primitive::KernelCopy, Primitive::UnixSocket, Primitive::ContextSwitch],
    sources: &[DefinitionSource::new("lmbench", "bw_unix", "McVoy & Staelin, USENIX ATC 1996")],
    parameters: &[BLOCK, Parameter::choice("data", DATA, &["copied"]), Parameter::placement(&["same_cpu"])],
    parties: Parties::Placed,
    prepare,
    ..Benchmark::BLANK
};

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let (near, far) = unix_pair()?;
    let touched = at.choice("data")? == "touched";
    Ok(Trial::one(StreamKernel::start(context, (near.from, far.to), at.bytes("block")? as usize, touched)?))
}
