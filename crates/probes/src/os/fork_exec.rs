//! Starting a small program.

use super::start::{StartKernel, dynamic, hello};
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "os.fork_exec",
    title: "fork and exec",
    about: "Forks, executes a small program, waits, and looks at its status. Static: a program of a few instructions that greets. \
            Dynamic: the system's /bin/true with its loader and C library.",
    metric: ProbeMetric::lower(Unit::Seconds, "process"),
    class: Class::Process,
    stresses: &[Primitive::Fork, Primitive::Exec, Primitive::DynamicLink],
    sources: &[
        DefinitionSource::new("BaBar", "table 3, simple process", "T. J. Pavel, CHEP 98"),
        DefinitionSource::new("lmbench", "lat_proc exec", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    axes: &[Axis::choice("linking", &["static", "dynamic"], &["static"])],
    prepare,
    ..Probe::BLANK
};

fn prepare(at: &Point, context: &mut ProbeContext) -> Result<Trial, Unsupported> {
    let (mut path, files) = hello(context)?;
    if at.choice("linking")? == "dynamic" {
        path = dynamic()?;
        context.note(format!("dynamic program: {}", path.display()));
    }
    Ok(Trial::one(StartKernel::new(&path, &[], files, |program| program.fork_exec())?))
}
