//! Switching between processes.

use super::ring::{Exclusive, ProcessRings};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.context_switch",
    title: "context switch",
    about: "A ring of processes passes a token over pipes. Each sums its own array before it passes the token on. The \
            same hops and sums within one process, over as many pipes, are subtracted. The switch and the cache \
            misses that it causes remain. On two CPUs, neighbours of the ring are on different CPUs, so each hop also \
            wakes a CPU. With eight or more processes there are four rings, used in turn.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "switch"),
    class: Class::Ipc,
    stresses: &[Primitive::ContextSwitch],
    usual: true,
    key: &[(60, "context switch", "processes=2,placement=same_cpu")],
    operation: Some(Operation::new("switch", &[(Primitive::SyscallEntry, 4.0)])),
    sources: &[
        DefinitionSource::new("BaBar", "table 5, context switch of 2 and 8 processes", "T. J. Pavel, CHEP 98"),
        DefinitionSource::new("lmbench", "lat_ctx", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    parameters: &[
        Parameter::choice("processes", &["2", "8", "16"], &["2", "8"]),
        Parameter::choice("working_set", &["0B", "4KiB", "16KiB", "64KiB"], &["0B"]),
        Parameter::placement(&["same_cpu"]),
    ],
    parties: Parties::Placed,
    paired: true,
    prepare,
    ..Benchmark::BLANK
};

/// Processes of a ring from which on there are several rings, and their number: samples of one ring of eight differed
/// by 4%.
const CROWD: usize = 8;
const RINGS: usize = 4;

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let (count, bytes) = (at.count("processes")? as usize, at.bytes("working_set")? as usize);
    let rings = if count < CROWD { 1 } else { RINGS };
    let work = ProcessRings::close(context, rings, count, bytes)?;
    Ok(Trial::paired(work, Exclusive::new(context.seed(), count, bytes)?))
}
