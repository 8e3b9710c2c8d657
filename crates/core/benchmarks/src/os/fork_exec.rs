//! Starting a small program.

use super::start::{FORK_AND_EXEC, StartKernel, hello};
use crate::prelude::*;
use crate::programs::{Linking, system_true};

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.fork_exec",
    title: "fork and exec",
    about: "Forks, executes a small program, waits, and checks its status. With `program=hello` it prints a greeting \
            in a few instructions. It is static, or linked to the system's C library, which its loader maps and \
            starts. With `true` it is the system's own /bin/true.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "process"),
    class: Class::Process,
    stresses: &[Primitive::Exec, Primitive::Fork, Primitive::DynamicLink],
    usual: true,
    key: &[(50, "start a program", "linking=dynamic,program=hello"), (51, "start a static program", "linking=static")],
    operation: Some(FORK_AND_EXEC),
    sources: &[
        DefinitionSource::new("BaBar", "table 3, simple process", "T. J. Pavel, CHEP 98")
            .at("linking=dynamic")
            .near(START),
        DefinitionSource::new("BaBar", "table 3, simple process", "T. J. Pavel, CHEP 98").other(STATIC),
        DefinitionSource::new("lmbench", "lat_proc exec", "McVoy & Staelin, USENIX ATC 1996")
            .at("linking=dynamic")
            .near(START),
        DefinitionSource::new("lmbench", "lat_proc exec", "McVoy & Staelin, USENIX ATC 1996").other(STATIC),
    ],
    parameters: &[Linking::PARAMETER, Parameter::choice("program", &["hello", "true"], &["hello"])],
    skips: |at| at.get("linking") == Some("static") && at.get("program") == Some("true"),
    prepare,
    ..Benchmark::BLANK
};

/// Some 4% less CPU time than a C program that writes the same (medians of 400, alternating with one during other
/// builds).
const START: &str = "the C library is loaded and set up, but its start-up code before main does not run";
const STATIC: &str = "the program is linked statically";

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let (mut path, files) = hello(context, Linking::at(at)?)?;
    if at.choice("program")? == "true" {
        path = system_true()?;
        context.note(format!("dynamic program: {}", path.display()));
    }
    Ok(Trial::one(StartKernel::new(&path, &[], files, |program| program.fork_exec())?))
}
