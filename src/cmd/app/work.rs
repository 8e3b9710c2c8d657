//! The built-in workloads as programs: what `builtin:` manifests and sessions run.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use physics::Workload;

use crate::{ExitStatus, output};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// simulate, reconstruct or analyse
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(physics::NAMES))]
    workload: String,
    /// Events
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    events: u64,
    /// Start at this event number
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus> {
    let workload = Workload::by_name(&arguments.workload).context("could not find the workload")?;
    let began = Instant::now();
    let prepared = workload.prepare(arguments.seed, arguments.first, arguments.events);
    let startup = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let done = prepared.run()?;
    let seconds = began.elapsed().as_secs_f64();
    let mut text = format!("events={}\nstartup={startup:.9}\n", done.events);
    writeln!(text, "loop={seconds:.9}\nrate={:.6}", done.events as f64 / seconds)?;
    for (name, value) in &done.quality {
        writeln!(text, "{name}={value:.6}")?;
    }
    writeln!(text, "digest={}", done.digest)?;
    output::write(text.as_bytes())
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReadArguments {
    /// Read ntuples and fill their spectrum, instead of only reading bytes
    #[arg(long)]
    analyse: bool,
    /// The files
    files: Vec<PathBuf>,
}

pub(crate) fn read(arguments: &ReadArguments) -> Result<ExitStatus> {
    if !arguments.analyse {
        let bytes = application::read_files(&arguments.files).context("could not read the files of the session")?;
        return output::write(format!("bytes={bytes}\n").as_bytes());
    }
    let mut sum = physics::analyse::Spectrum::default();
    for path in &arguments.files {
        let file = std::fs::File::open(path).with_context(|| format!("could not open {}", path.display()))?;
        let spectrum = physics::analyse::analyse(std::io::BufReader::with_capacity(1 << 18, file))
            .with_context(|| format!("could not analyse {}", path.display()))?;
        sum.add(&spectrum);
    }
    output::write(format!("events={}\ndigest={}\n", sum.events(), sum.digest()).as_bytes())
}
