//! Common parts of the figures that start a program: the program, and the count of those that succeeded.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use sys::process::{Child, PreparedProgram, ProcessExit};

use crate::{BatchWork, Kernel, ProbeContext, ProbeError, Scratch, Unsupported, programs};

/// A way to start a prepared program.
pub(super) type How = fn(&mut PreparedProgram) -> sys::Result<Child>;

/// Repeatedly starts a program, waits for it and requires status 0.
pub(super) struct StartKernel {
    program: PreparedProgram,
    how: How,
    _files: Rc<Scratch>,
}

impl StartKernel {
    /// Starts `path` with its arguments, without output.
    pub(super) fn new(path: &Path, arguments: &[&str], files: Rc<Scratch>, how: How) -> Result<Self, Unsupported> {
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
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        let mut ended_well = 0;
        for _ in 0..ops {
            ended_well += u64::from((self.how)(&mut self.program)?.wait()?.success());
        }
        Ok(BatchWork { ops, token: ended_well })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        ProbeError::unless_equal(done.token, done.ops)
    }
}

/// The hello program in a directory of this launch, and that directory.
pub(super) fn hello(context: &mut ProbeContext) -> Result<(PathBuf, Rc<Scratch>), Unsupported> {
    let files = context.scratch()?;
    Ok((programs::HELLO.write_into(files.path())?, files))
}

/// Path of a small dynamically linked program that every system has and that does nothing.
pub(super) fn dynamic() -> Result<PathBuf, Unsupported> {
    ["/bin/true", "/usr/bin/true", "/run/current-system/sw/bin/true"]
        .iter()
        .map(PathBuf::from)
        .find(|path| is_dynamic(path).unwrap_or(false))
        .ok_or_else(|| Unsupported::new("there is no dynamically linked /bin/true"))
}

/// Whether a program requires a loader: an ELF file with a PT_INTERP header (System V ABI, chapter 5).
fn is_dynamic(path: &Path) -> std::io::Result<bool> {
    const PT_INTERP: u32 = 3;
    let mut head = Vec::new();
    fs::File::open(path)?.take(4096).read_to_end(&mut head)?;
    let number = |at: usize, bytes: usize| -> Option<usize> {
        let field = head.get(at..at + bytes)?;
        Some(field.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte)))
    };
    let wide = head.get(4) == Some(&2);
    let (table, entry, count) = if wide { (32, 54, 56) } else { (28, 42, 44) };
    let little = head.get(5) == Some(&1);
    let interpreted = || -> Option<bool> {
        let (at, size, count) = (number(table, if wide { 8 } else { 4 })?, number(entry, 2)?, number(count, 2)?);
        Some((0..count).any(|index| number(at + index * size, 4) == Some(PT_INTERP as usize)))
    };
    Ok(head.starts_with(b"\x7fELF") && little && interpreted().unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dynamic_and_static_programs_are_distinguished() {
        let directory = tempfile::tempdir().unwrap();
        if let Ok(path) = programs::HELLO.write_into(directory.path()) {
            assert!(!is_dynamic(&path).unwrap());
        }
        match dynamic() {
            Ok(path) => assert!(path.is_absolute()),
            Err(unfit) => testing::skip!("{unfit}"),
        }
        let text = directory.path().join("text");
        fs::write(&text, "#!/bin/sh\n").unwrap();
        assert!(!is_dynamic(&text).unwrap());
    }
}
