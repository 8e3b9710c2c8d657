//! Every benchmark does its work, its check accepts that and detects altered work, and no files or processes are left.
//!
//! A worker has one thread, because it forks; a test harness has more. This test therefore has its own `main`: it runs
//! itself once for every benchmark and parameters, and such a run prepares one trial. Arguments select benchmarks by
//! parts of their ids.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and says what it skips"
)]

use std::path::Path;
use std::process::{Command, ExitCode};

use benchmarks::{BatchWork, Benchmark, BenchmarkContext, BenchmarkError, Kernel, Parties, SampleSetting, Trial, all};
use model::Parameters;

const BENCHMARK: &str = "PRONY_WORKS_BENCHMARK";
const PARAMETERS: &str = "PRONY_WORKS_PARAMETERS";
const NOT_HERE: i32 = 77;

fn main() -> ExitCode {
    if let Ok(id) = std::env::var(BENCHMARK) {
        let parameters = std::env::var(PARAMETERS).unwrap_or_default();
        return alone(benchmarks::find(&id).unwrap(), &parameters.parse().unwrap());
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let (mut worked, mut skipped, mut failures) = (0, 0, Vec::new());
    for benchmark in
        all().filter(|benchmark| wanted.is_empty() || wanted.iter().any(|part| benchmark.id.contains(part.as_str())))
    {
        for parameters in points(benchmark) {
            match run(benchmark, &parameters) {
                (Some(0), _) => worked += 1,
                (Some(NOT_HERE), said) => {
                    skipped += 1;
                    eprint!("{said}");
                }
                (_, said) => failures.push(format!("{} at {parameters}: {said}", benchmark.id)),
            }
        }
    }
    println!("{worked} trials worked, {skipped} skipped, {} failed", failures.len());
    failures.iter().for_each(|failure| eprintln!("{failure}"));
    ExitCode::from(u8::from(!failures.is_empty()))
}

/// The smallest parameters, every placement, and the default sets of parameters of benchmarks that are prepared fast.
fn points(benchmark: &Benchmark) -> Vec<Parameters> {
    // The first value of every parameter is the fastest to prepare.
    let smallest = benchmark.points().into_iter().next().unwrap_or_default();
    let mut points = vec![smallest.clone()];
    if let Some(placement) = benchmark.parameters.iter().find(|parameter| parameter.name == "placement") {
        points.extend(placement.all().into_iter().map(|place| smallest.clone().with("placement", place)));
    }
    // These say how the work is done, each by other code.
    for parameter in benchmark
        .parameters
        .iter()
        .filter(|parameter| ["linking", "program", "messages", "laid", "durability"].contains(&parameter.name))
    {
        points.extend(parameter.all().into_iter().map(|value| smallest.clone().with(parameter.name, value)));
    }
    points.retain(|parameters| !(benchmark.skips)(parameters));
    // Representative sizes of memory take long, of devices too.
    if !["memory", "gpu"].contains(&benchmark.family()) {
        points.extend(benchmark.default_points());
    }
    let mut seen = Vec::new();
    points.retain(|parameters| {
        !seen.contains(parameters) && {
            seen.push(parameters.clone());
            true
        }
    });
    points
}

fn run(benchmark: &Benchmark, parameters: &Parameters) -> (Option<i32>, String) {
    let home = tempfile::tempdir().unwrap();
    let executable = std::env::current_exe().unwrap();
    let output = Command::new(executable)
        .env(BENCHMARK, benchmark.id)
        .env(PARAMETERS, parameters.to_string())
        .env("TMPDIR", home.path())
        .output()
        .unwrap();
    let mut said = String::from_utf8_lossy(&output.stderr).into_owned();
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    if left.is_empty() {
        (output.status.code(), said)
    } else {
        said.push_str(&format!("left behind: {left:?}\n"));
        (None, said)
    }
}

fn alone(benchmark: &Benchmark, parameters: &Parameters) -> ExitCode {
    let setting = setting(benchmark, parameters);
    let directory = setting.directory.clone();
    if let Some(cpu) = setting.cpus.first() {
        kernels::affinity::pin(&[*cpu]).unwrap();
    }
    let mut context = BenchmarkContext::new(setting);
    let trial = match (benchmark.prepare)(parameters, &mut context) {
        Ok(trial) => trial,
        Err(not_measured) => {
            testing::lacks!("{} at {parameters}: not measurable here: {not_measured}", benchmark.id);
            return ExitCode::from(NOT_HERE as u8);
        }
    };
    assert_eq!(matches!(trial, Trial::Paired { .. }), benchmark.paired, "paired or not?");
    // A kernel may outlive the context.
    drop(context);
    match trial {
        Trial::One(mut kernel) => conform(kernel.as_mut(), benchmark.batch.least, benchmark.batch.most),
        Trial::Paired { mut work, mut overhead } => {
            conform(work.as_mut(), benchmark.batch.least, benchmark.batch.most);
            conform(overhead.as_mut(), benchmark.batch.least, benchmark.batch.most);
        }
        Trial::Readings(mut readings) => {
            let values = readings.read().unwrap();
            assert!(!values.is_empty() && values.iter().all(|value| value.is_finite()), "{values:?}");
        }
    }
    nothing_is_left(&directory);
    ExitCode::SUCCESS
}

fn conform(kernel: &mut dyn Kernel, least: u64, most: u64) {
    let granule = kernel.granule().max(1);
    for asked in [least.max(1), 3 * least.max(1)] {
        let asked = (asked.div_ceil(granule) * granule).min(most);
        kernel.ready(asked).unwrap_or_else(|fault| panic!("could not get ready: {fault}"));
        let done = kernel.batch(asked).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(done.ops > 0, "it did nothing");
        kernel.check(&done).unwrap_or_else(|fault| panic!("its check refuses honest work: {fault}"));
        let forged = BatchWork { token: done.token ^ 1, ..done };
        assert!(kernel.check(&forged).is_err(), "its check does not notice a forged token");
        let lazy = BatchWork { ops: done.ops + granule, ..done };
        assert!(kernel.check(&lazy).is_err(), "its check does not notice operations that were never done");
        assert!(kernel.amount() > 0.0 && kernel.amount().is_finite());
    }
    let mut record = benchmarks::Recorder::with_capacity(3);
    kernel.each(&mut record).unwrap_or_else(|fault: BenchmarkError| panic!("single operations: {fault}"));
    assert!(record.nanos().iter().all(|nanos| *nanos > 0));
}

/// No child of this process and no file in its directories.
fn nothing_is_left(directory: &Path) {
    let me = std::process::id();
    if let Ok(children) = std::fs::read_to_string(format!("/proc/{me}/task/{me}/children")) {
        assert!(children.trim().is_empty(), "children left behind: {children}");
    }
    for place in [directory, Path::new("/dev/shm"), Path::new("/tmp")] {
        let mine = format!("prony-{me}-");
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            assert!(!entry.file_name().to_string_lossy().starts_with(&mine), "{} left behind", entry.path().display());
        }
    }
}

fn setting(benchmark: &Benchmark, parameters: &Parameters) -> SampleSetting {
    let allowed = kernels::affinity::allowed().unwrap();
    let (first, last) = (allowed[0], *allowed.last().unwrap());
    let cpus = match benchmark.parties {
        Parties::One | Parties::OnNode => vec![first],
        Parties::Placed => match parameters.get("placement") {
            Some("same_cpu") => vec![first; 64],
            Some("cross_cpu") => [first, last].repeat(32),
            _ => vec![],
        },
        Parties::Threads => match parameters.get("threads") {
            Some("all") => allowed.clone(),
            _ => vec![first],
        },
        Parties::CoresOfNode => allowed.clone(),
        Parties::NamedPair => vec![first, last],
        Parties::Named => vec![first],
    };
    SampleSetting {
        seed: 7,
        cpus,
        allowed,
        directory: std::env::temp_dir(),
        variant: None,
        calibrating: true,
        cache: 0,
    }
}
