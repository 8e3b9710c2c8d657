//! Common parts of the results that start a program: the program, and the count of those that succeeded.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use kernels::process::{Child, PreparedProgram, ProcessExit};

use crate::prelude::{Operation, Primitive};
use crate::programs::{self, Linking};
use crate::{BatchWork, BenchmarkContext, BenchmarkError, Kernel, Scratch, Unsupported};

/// The parts of starting a program, whichever way the child is made.
pub(super) const FORK_AND_EXEC: Operation = Operation::new(
    "fork and exec",
    &[(Primitive::ContextSwitch, 2.0), (Primitive::Fork, 1.0), (Primitive::SyscallEntry, 50.0)],
);

/// A way to start a prepared program.
pub(super) type StartMethod = fn(&mut PreparedProgram) -> kernels::Result<Child>;

/// Repeatedly starts a program, waits for it and requires status 0.
pub(super) struct StartKernel {
    program: PreparedProgram,
    how: StartMethod,
    _files: Rc<Scratch>,
}

impl StartKernel {
    /// Starts `path` with its arguments, without output.
    pub(super) fn new(
        path: &Path,
        arguments: &[&str],
        files: Rc<Scratch>,
        how: StartMethod,
    ) -> Result<Self, Unsupported> {
        let mut program = PreparedProgram::new(path, arguments)?.silent()?;
        // Outside the clock: a program that cannot be started here is not a failure of the measurement.
        match how(&mut program)?.wait()? {
            ProcessExit::Code(0) => Ok(Self { program, how, _files: files }),
            ProcessExit::Code(127) => {
                Err(Unsupported::new(format!("{} cannot be executed there (noexec?)", path.display())))
            }
            other => Err(Unsupported::new(format!("{} ended with {other:?} instead of status 0", path.display()))),
        }
    }
}

impl Kernel for StartKernel {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut ended_well = 0;
        for _ in 0..ops {
            ended_well += u64::from((self.how)(&mut self.program)?.wait()?.success());
        }
        Ok(BatchWork { ops, token: ended_well })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}

/// The hello program in a directory of this sample, and that directory.
pub(super) fn hello(context: &mut BenchmarkContext, linking: Linking) -> Result<(PathBuf, Rc<Scratch>), Unsupported> {
    let files = context.scratch()?;
    Ok((programs::HELLO.write_into(files.path(), linking)?, files))
}
