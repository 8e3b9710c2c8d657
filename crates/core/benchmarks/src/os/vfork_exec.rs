//! Starting a small program by `vfork`.

use super::start::{FORK_AND_EXEC, StartKernel, hello};
use crate::prelude::*;
use crate::programs::Linking;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.vfork_exec",
    title: "vfork and exec",
    about: "Starts a small static program with vfork and exec, waits, and checks its status. The child borrows the \
            parent's memory until it executes, so nothing is copied.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "process"),
    class: Class::Process,
    stresses: &[Primitive::Exec],
    operation: Some(FORK_AND_EXEC),
    sources: &[DefinitionSource::new("BSD", "vfork", "vfork(2)")],
    prepare,
    ..Benchmark::BLANK
};

fn prepare(_: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let (path, files) = hello(context, Linking::Static)?;
    Ok(Trial::one(StartKernel::new(&path, &[], files, |program| program.vfork_exec())?))
}
