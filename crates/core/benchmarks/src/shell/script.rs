//! Concurrent shell scripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use super::WHERE;
use crate::Scratch;
use crate::prelude::*;
use crate::tool;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "shell.script",
    title: "shell scripts",
    about: "Runs a /bin/sh script that sorts a generated file, dumps it in octal, sorts the dump, searches the file \
            and counts the matches. One count is a round: `concurrent` scripts run at once, and all have ended. Their \
            results are checked. All programs share one CPU, or run where the scheduler puts them.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "script rounds"),
    class: Class::Process,
    stresses: &[Primitive::Shell, Primitive::Fork, Primitive::Exec, Primitive::DynamicLink, Primitive::Pipe],
    operation: Some(Operation::mixture(
        "script",
        &[(Primitive::Exec, 8.0), (Primitive::Fork, 8.0), (Primitive::ContextSwitch, 50.0)],
        super::FILES,
    )),
    program: "sh",
    sources: &[
        DefinitionSource::new("BYTE", "Shell Scripts", "UnixBench, pgms/multi.sh and pgms/tst.sh")
            .near("another script, of the same commands over a generated file"),
        DefinitionSource::new("CyberLife", "Shell scripts", "CyberLife Labs notes, 2004")
            .near("another script, of the same commands over a generated file"),
    ],
    parameters: &[
        Parameter::choice("concurrent", &["1", "2", "4", "8"], &["1", "8"]),
        Parameter::placed(WHERE, &["same_cpu"]),
    ],
    parties: Parties::Placed,
    batch: BatchRule::at_most(64),
    prepare,
    ..Benchmark::BLANK
};

/// Each copy uses its own files, named after its argument.
const SCRIPT: &str = "\
set -e
sort < words > sorted.$1
od -c sorted.$1 | sort -n > dumped.$1
grep prony sorted.$1 | tee found.$1 | wc -l > count.$1
rm sorted.$1 dumped.$1 found.$1
";
const LINES: u64 = 400;
/// Every seventh line contains the word that is searched for.
const EVERY: u64 = 7;

struct Script {
    shell: PathBuf,
    files: Rc<Scratch>,
    concurrent: u64,
}

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let shell = PathBuf::from("/bin/sh");
    let really = shell.canonicalize().map_err(|error| Unsupported::new(format!("there is no /bin/sh: {error}")))?;
    context.note(format!("shell: /bin/sh is {}", really.display()));
    for name in ["sort", "od", "grep", "tee", "wc", "rm"] {
        tool::find(&[name])?;
    }
    let sort = tool::find(&["sort"])?;
    context.note(format!("sort: {}", tool::version(&sort, "--version")));
    let files = context.scratch()?;
    fs::write(files.path().join("words"), words(context.seed()))?;
    fs::write(files.path().join("script"), SCRIPT)?;
    let mut script = Script { shell, files, concurrent: at.count("concurrent")? };
    // If a tool behaves differently, this is not the published script.
    let done = script.batch(1)?;
    script.check(&done)?;
    Ok(Trial::one(script))
}

/// Lines of words in random order.
fn words(seed: u64) -> String {
    let line = |index: u64| {
        let word = crate::peer_process::answer(seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let name = if index.is_multiple_of(EVERY) { "prony" } else { "brake" };
        format!("{word:016x} {name} {index}\n")
    };
    (0..LINES).map(line).collect()
}

impl Script {
    fn start(&self, copy: u64) -> Result<(Command, Child), BenchmarkError> {
        let mut command = tool::command(&self.shell, self.files.path());
        command.arg("script").arg(copy.to_string());
        let child = command.spawn().map_err(|error| tool::start_fault(&command, &error))?;
        Ok((command, child))
    }

    fn round(&self) -> Result<u64, BenchmarkError> {
        let copies = (0..self.concurrent).map(|copy| self.start(copy)).collect::<Result<Vec<_>, _>>()?;
        let mut well = 0;
        for (command, copy) in copies {
            let output = copy.wait_with_output()?;
            if !output.status.success() {
                return Err(tool::ending_fault(&command, &output));
            }
            well += 1;
        }
        Ok(well)
    }
}

fn count_in(path: &Path) -> Result<u64, BenchmarkError> {
    let text = fs::read_to_string(path)?;
    text.trim().parse().map_err(|_| BenchmarkError::new(format!("a script counted '{}'", text.trim())))
}

impl Kernel for Script {
    fn ready(&mut self, _: u64) -> Result<(), BenchmarkError> {
        for copy in 0..self.concurrent {
            // The file does not exist before the first round.
            let _ = fs::remove_file(self.files.path().join(format!("count.{copy}")));
        }
        Ok(())
    }

    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut ended = 0;
        for _ in 0..ops {
            ended += self.round()?;
        }
        Ok(BatchWork { ops, token: ended })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        for copy in 0..self.concurrent {
            let found = count_in(&self.files.path().join(format!("count.{copy}")))?;
            BenchmarkError::unless_equal(found, LINES.div_ceil(EVERY))?;
        }
        BenchmarkError::unless_equal(done.token, done.ops * self.concurrent)
    }
}
