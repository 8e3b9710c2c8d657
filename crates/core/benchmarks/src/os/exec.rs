//! A program that replaces itself.

use std::path::PathBuf;

use kernels::process::PreparedProgram;

use crate::Scratch;
use crate::prelude::*;
use crate::programs::{CHAIN, Linking};

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.exec",
    title: "exec",
    about: "A small program repeatedly executes itself in one process and then ends. The time of the same program \
            ending at once is subtracted. The replacement of one program by the next remains. With `linking=dynamic` \
            the loader maps and starts the system's C library each time; `static` needs neither.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "exec"),
    class: Class::Process,
    stresses: &[Primitive::Exec, Primitive::DynamicLink],
    operation: Some(Operation::new("exec", &[(Primitive::ContextSwitch, 1.0), (Primitive::SyscallEntry, 40.0)])),
    sources: &[
        DefinitionSource::new("BYTE", "Execl Throughput", "UnixBench, src/execl.c").at("linking=dynamic").near(START),
        DefinitionSource::new("BYTE", "Execl Throughput", "UnixBench, src/execl.c").other(STATIC),
        DefinitionSource::new("CyberLife", "Execl Throughput", "CyberLife Labs notes, 2004")
            .at("linking=dynamic")
            .near(START),
        DefinitionSource::new("CyberLife", "Execl Throughput", "CyberLife Labs notes, 2004").other(STATIC),
    ],
    parameters: &[Linking::PARAMETER],
    // The count is passed as the length of an argument, which must be short compared to a page.
    batch: BatchRule { least: 2, most: 1024, batches: None },
    paired: true,
    prepare,
    ..Benchmark::BLANK
};

/// Difference from a C program that executes itself.
const START: &str = "the program does not look at the clock, nor format its arguments, between two execs";
const STATIC: &str = "the program is linked statically";

/// Replaces itself `links` times per batch; the overhead, never.
struct Chain {
    path: PathBuf,
    _files: Rc<Scratch>,
    overhead: bool,
    program: Option<PreparedProgram>,
    links: u64,
    faults: u64,
}

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let files = context.scratch()?;
    let path = CHAIN.write_into(files.path(), Linking::at(at)?)?;
    let chain = |overhead| Chain {
        path: path.clone(),
        _files: Rc::clone(&files),
        overhead,
        program: None,
        links: 0,
        faults: 0,
    };
    let mut trial = chain(false);
    trial.ready(1).and_then(|()| trial.batch(1)).and_then(|done| trial.check(&done)).map_err(|fault| {
        Unsupported::new(format!("{} cannot execute itself there (noexec?): {fault}", path.display()))
    })?;
    Ok(Trial::paired(trial, chain(true)))
}

impl Kernel for Chain {
    fn ready(&mut self, ops: u64) -> Result<(), BenchmarkError> {
        if self.links != ops || self.program.is_none() {
            let argument = if self.overhead { String::new() } else { "x".repeat(ops as usize) };
            self.program = Some(PreparedProgram::new(&self.path, [argument])?.silent()?);
            self.links = ops;
        }
        Ok(())
    }

    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let program = self.program.as_ref().ok_or_else(|| BenchmarkError::new("no program was prepared"))?;
        let (exit, faults) = program.fork_exec()?.wait_faults()?;
        self.faults = faults;
        let ended_well = exit.success() && ops == self.links;
        Ok(BatchWork { ops, token: if ended_well { self.links } else { 0 } })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal((done.token, done.ops), (self.links, self.links))?;
        // Every program causes at least page faults for its code and its stack, which the kernel counts.
        if self.overhead || self.faults >= 2 * self.links {
            Ok(())
        } else {
            Err(BenchmarkError::new(format!("{} page faults are too few for {} programs", self.faults, self.links)))
        }
    }
}
