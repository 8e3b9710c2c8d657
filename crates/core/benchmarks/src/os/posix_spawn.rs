//! Starting a small program by `posix_spawn`.

use super::start::{FORK_AND_EXEC, StartKernel, hello};
use crate::prelude::*;
use crate::programs::Linking;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.posix_spawn",
    title: "posix_spawn",
    about: "Starts a small static program with posix_spawn, waits, and checks its status. The program prints a \
            greeting. Current C libraries do not copy the parent's page tables for it.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "process"),
    class: Class::Process,
    stresses: &[Primitive::Exec],
    operation: Some(FORK_AND_EXEC),
    sources: &[DefinitionSource::new("POSIX", "posix_spawn", "posix_spawn(3)")],
    prepare,
    ..Benchmark::BLANK
};

fn prepare(_: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let (path, files) = hello(context, Linking::Static)?;
    Ok(Trial::one(StartKernel::new(&path, &[], files, |program| program.spawn())?))
}
