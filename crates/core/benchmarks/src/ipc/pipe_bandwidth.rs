//! Data through a pipe.

use crate::line::pipe;
use crate::prelude::*;
use crate::stream::{BLOCK, DATA, StreamKernel};

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "ipc.pipe_bandwidth",
    title: "pipe bandwidth",
    about: "Another process writes blocks into a pipe, and this one reads them. Bytes count once, as moved. With \
            `data=copied` only the kernel copies them. With `touched` the writer also writes every word before, and \
            the reader sums every word after. The pipe holds `capacity` before its writer waits.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes moved"),
    class: Class::Ipc,
    stresses: &[Primitive::KernelCopy, Primitive::Pipe, Primitive::ContextSwitch],
    sources: &[
        DefinitionSource::new("lmbench", "bw_pipe", "McVoy & Staelin, USENIX ATC 1996"),
        DefinitionSource::new("DAISy/HEAT", "table 8", "section 6.6.1.2"),
    ],
    parameters: &[
        BLOCK,
        Parameter::choice("capacity", &["4KiB", "64KiB", "1MiB"], &["64KiB"]),
        Parameter::choice("data", DATA, &["copied"]),
        Parameter::placement(&["same_cpu"]),
    ],
    parties: Parties::Placed,
    prepare,
    ..Benchmark::BLANK
};

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let (from, to) = pipe()?;
    let wanted = at.bytes("capacity")? as usize;
    let got = kernels::file::set_pipe_capacity(&from, wanted)?;
    if got != wanted {
        context.note(format!("pipe capacity: {got} bytes, the closest to {wanted} that the kernel gives"));
    }
    let touched = at.choice("data")? == "touched";
    Ok(Trial::one(StreamKernel::start(context, (from, to), at.bytes("block")? as usize, touched)?))
}
