//! Starting a small program through the shell.

use std::path::Path;

use super::start::{StartKernel, hello};
use crate::prelude::*;
use crate::programs::Linking;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.fork_shell",
    title: "fork and shell",
    about: "Forks, executes /bin/sh -c with the path of a small program, waits, and checks the status. The program \
            prints a greeting; it is static or linked to the system's C library. The notes name the shell.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "process"),
    class: Class::Process,
    stresses: &[Primitive::Shell, Primitive::Fork, Primitive::Exec, Primitive::DynamicLink],
    key: &[(52, "start a program by a shell", "")],
    operation: Some(Operation::new(
        "shell start",
        &[(Primitive::ContextSwitch, 4.0), (Primitive::Fork, 2.0), (Primitive::Exec, 2.0)],
    )),
    program: "sh",
    sources: &[
        DefinitionSource::new("BaBar", "table 3, /bin/sh process", "T. J. Pavel, CHEP 98")
            .at("linking=dynamic")
            .near(START),
        DefinitionSource::new("BaBar", "table 3, /bin/sh process", "T. J. Pavel, CHEP 98").other(STATIC),
        DefinitionSource::new("lmbench", "lat_proc shell", "McVoy & Staelin, USENIX ATC 1996")
            .at("linking=dynamic")
            .near(START),
        DefinitionSource::new("lmbench", "lat_proc shell", "McVoy & Staelin, USENIX ATC 1996").other(STATIC),
    ],
    parameters: &[Linking::PARAMETER],
    prepare,
    ..Benchmark::BLANK
};

const START: &str =
    "the program that the shell starts loads the C library, but does not run its start-up code before main";
const STATIC: &str = "the program that the shell starts is linked statically";

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let shell = Path::new("/bin/sh");
    let really = shell.canonicalize().map_err(|error| Unsupported::new(format!("there is no /bin/sh: {error}")))?;
    context.note(format!("shell: /bin/sh is {}", really.display()));
    let (path, files) = hello(context, Linking::at(at)?)?;
    let path = path.to_str().ok_or_else(|| Unsupported::new("the target directory's name is not text"))?;
    if path.contains('\'') {
        return Err(Unsupported::new("the target directory's name contains a quotation mark"));
    }
    Ok(Trial::one(StartKernel::new(shell, &["-c", &format!("'{path}'")], files, |program| program.fork_exec())?))
}
