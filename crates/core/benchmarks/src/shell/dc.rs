//! A desk calculator.

use std::fs::{self, File};
use std::path::PathBuf;

use crate::Scratch;
use crate::prelude::*;
use crate::tool;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "shell.dc",
    title: "square root by dc",
    about: "Starts dc, which works out the square root of 2 to 99 places and prints it. The digits are compared each \
            time.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "square roots"),
    class: Class::Process,
    stresses: &[Primitive::Fork, Primitive::Exec, Primitive::DynamicLink, Primitive::IntegerAlu],
    operation: Some(Operation::mixture(
        "calculation",
        &[(Primitive::Exec, 1.0), (Primitive::Fork, 1.0), (Primitive::ContextSwitch, 4.0)],
        &[Primitive::DynamicLink],
    )),
    program: "dc",
    sources: &[
        DefinitionSource::new("BYTE", "Dc: sqrt(2) to 99 decimal places", "UnixBench, pgms/dc.dat"),
        DefinitionSource::new("CyberLife", "Dc: sqrt(2) to 99 decimal places", "CyberLife Labs notes, 2004"),
    ],
    batch: BatchRule::at_most(64),
    prepare,
    ..Benchmark::BLANK
};

struct Dc {
    program: PathBuf,
    files: Rc<Scratch>,
}

fn prepare(_: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let program = tool::find(&["dc"])?;
    context.note(format!("dc: {} is {}", program.display(), tool::version(&program, "--version")));
    let files = context.scratch()?;
    fs::write(files.path().join("question"), "99k2vp\n")?;
    let mut dc = Dc { program, files };
    let done = dc.batch(1)?;
    dc.check(&done)?;
    Ok(Trial::one(dc))
}

/// The square root of 2, cut after 99 places.
const ROOT: &str = "1.4142135623730950488016887242096980785696718753769\
                    48073176679737990732478462107038850387534327641572";

/// The output of dc: long numbers continue in the next line after a backslash.
fn digits(printed: &[u8]) -> String {
    String::from_utf8_lossy(printed).chars().filter(|c| c.is_ascii_digit() || *c == '.').collect()
}

impl Kernel for Dc {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut right = 0;
        for _ in 0..ops {
            let mut command = tool::command(&self.program, self.files.path());
            let printed = tool::output(command.stdin(File::open(self.files.path().join("question"))?))?;
            right += u64::from(digits(&printed) == ROOT);
        }
        Ok(BatchWork { ops, token: right })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_go_on_behind_a_backslash() {
        assert_eq!(digits(b"1.41\\\n42\n"), "1.4142");
    }
}
