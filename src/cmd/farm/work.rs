//! The work of a farm: built-in workloads, files of ntuples, and the user's own command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ::farm::{Attempt, Chunk, ChunkResult, ChunkWorker, ChunkWorkers, FarmJob, StagedFile, text_digest};
use anyhow::{Context, Result};
use application::{LaunchSpec, Starter, Template};
use measure::Stopper;
use physics::Workload;
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::app::starter;
use super::staging::{Stage, StagePlan};
use crate::cli::CommonOptions;
use crate::{ExitStatus, output};

/// Interval at which a waiting chunk checks whether it is still wanted.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// The work of a job, as stored in the ledger and read by pilots.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum FarmWork {
    /// A built-in workload, with input files if there are any. `pace` is the minimum duration of a chunk, seconds.
    Builtin { workload: String, input: Option<PathBuf>, pace: f64 },
    /// A program that is run once per chunk.
    Command(Box<ProgramTemplate>),
}

/// A program with placeholders in its arguments.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramTemplate {
    /// Arguments with placeholders.
    pub(super) run: Vec<String>,
    /// Values of placeholders that are the same for all chunks.
    pub(super) values: BTreeMap<String, String>,
    /// Its working directory.
    pub(super) directory: PathBuf,
    /// Variables set for it.
    pub(super) environment: BTreeMap<String, String>,
    /// Seconds after which it counts as hung.
    pub(super) patience: f64,
    /// Expression that its output must match.
    pub(super) stdout: Option<String>,
    /// Expression whose first group is its digest.
    pub(super) digest: Option<String>,
    /// Location of its input, for the record.
    pub(super) input: PathBuf,
    /// The file that is copied to the local disk before a chunk.
    #[serde(default)]
    pub(super) stage: Option<StagePlan>,
}

impl FarmWork {
    pub(super) fn of(job: &FarmJob) -> Result<Self> {
        serde_json::from_value(job.work.clone()).context("could not understand the work of this farm")
    }

    /// Whether chunks write files: whether the private place of an attempt is among the arguments.
    pub(super) fn makes_products(&self) -> bool {
        match self {
            Self::Command(program) => {
                let uses = |text: &String| Template::parse(text).is_ok_and(|one| one.holes().any(|hole| hole == "out"));
                program.run.iter().skip(1).any(uses)
            }
            Self::Builtin { .. } => false,
        }
    }

    /// Whether results have digests that say something about their contents.
    pub(super) fn has_digest(&self) -> bool {
        match self {
            Self::Command(program) => program.digest.is_some(),
            Self::Builtin { .. } => true,
        }
    }

    /// Location of the input.
    fn input(&self) -> Option<&Path> {
        match self {
            Self::Builtin { input, .. } => input.as_deref(),
            Self::Command(program) => Some(&program.input),
        }
    }
}

/// Creates workers of this program.
pub(super) struct WorkerFactory;

impl ChunkWorkers for WorkerFactory {
    fn worker(&self, job: &FarmJob) -> Result<Box<dyn ChunkWorker>, String> {
        let make = || -> Result<Box<dyn ChunkWorker>> {
            Ok(match FarmWork::of(job)? {
                FarmWork::Builtin { workload, input, pace } => {
                    let workload = Workload::by_name(&workload).context("this program does not know the workload")?;
                    Box::new(Builtin { workload, input, pace: Duration::from_secs_f64(pace.clamp(0.0, 3600.0)) })
                }
                FarmWork::Command(program) => Box::new(Command::new(*program)?),
            })
        };
        make().map_err(|error| format!("{error:#}"))
    }

    fn about(&self, job: &FarmJob) -> Value {
        let cpus = kernels::affinity::allowed().map_or(0, |allowed| allowed.len());
        let identity = measure::identity();
        let notes: Vec<String> = match FarmWork::of(job).ok().as_ref().and_then(FarmWork::input) {
            Some(input) => input_notes(input),
            None => Vec::new(),
        };
        json!({ "host": identity.host, "machine": identity.fingerprint, "cpus": cpus, "notes": notes })
    }
}

/// The file system of the input and, over NFS, the cost of reading so far.
pub(super) fn input_notes(input: &Path) -> Vec<String> {
    let Ok(found) = os::file::filesystem(input) else {
        return vec![format!("there is no input at {}", input.display())];
    };
    let mut notes = vec![format!("input on {} ({} at {})", found.kind, found.source, found.point)];
    if found.kind.starts_with("nfs") {
        notes.push(match ::farm::mountstats::of(&found.point) {
            Some(mount) => mount.words(),
            None => "the kernel reports no statistics of this NFS mount".to_owned(),
        });
    }
    notes
}

/// The file with the ntuple of a chunk.
fn ntuple(folder: &Path, first: u64, events: u64) -> PathBuf {
    folder.join(format!("events-{first:012}-{events}.ntuple"))
}

struct Builtin {
    workload: Workload,
    input: Option<PathBuf>,
    pace: Duration,
}

impl ChunkWorker for Builtin {
    fn perform(&mut self, chunk: &Chunk, attempt: &Attempt) -> Result<ChunkResult, String> {
        let cpu = || kernels::clock::thread_cpu().map_err(|error| error.to_string());
        let (began, before) = (Instant::now(), cpu()?);
        let (events, digest) = match &self.input {
            Some(folder) => {
                let path = ntuple(folder, chunk.first, chunk.events);
                let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
                let file = std::fs::File::open(&path).map_err(|error| fail(&error))?;
                let spectrum = physics::analyse::analyse(std::io::BufReader::with_capacity(1 << 18, file))
                    .map_err(|error| fail(&error))?;
                (spectrum.events(), spectrum.digest())
            }
            None => {
                let prepared = self.workload.prepare(chunk.seed, chunk.first, chunk.events);
                let done = prepared.run().map_err(|error| error.to_string())?;
                (done.events, done.digest)
            }
        };
        if events != chunk.events {
            return Err(format!("processed {events} of {} events", chunk.events));
        }
        let used = cpu()?.saturating_sub(before);
        while began.elapsed() < self.pace && !attempt.stop.load(Ordering::SeqCst) {
            kernels::timer::sleep(self.pace.saturating_sub(began.elapsed()).min(STOP_INTERVAL));
        }
        let (cpu, wall) = (Some(used.as_secs_f64()), Some(began.elapsed().as_secs_f64()));
        Ok(ChunkResult { events, digest: digest.bits(), cpu, wall, ..ChunkResult::default() })
    }
}

struct Command {
    program: ProgramTemplate,
    templates: Vec<Template>,
    stdout: Option<Regex>,
    digest: Option<Regex>,
    starter: Starter,
    stage: Option<Stage>,
}

impl Command {
    fn new(program: ProgramTemplate) -> Result<Self> {
        let templates = program.run.iter().map(|text| Template::parse(text)).collect::<Result<Vec<_>, _>>();
        let compile = |text: &Option<String>| text.as_deref().map(Regex::new).transpose();
        Ok(Self {
            templates: templates.map_err(anyhow::Error::msg)?,
            stdout: compile(&program.stdout)?,
            digest: compile(&program.digest)?,
            starter: starter()?,
            stage: program.stage.clone().map(Stage::open).transpose()?,
            program,
        })
    }
}

impl ChunkWorker for Command {
    fn perform(&mut self, chunk: &Chunk, attempt: &Attempt) -> Result<ChunkResult, String> {
        let mut values = self.program.values.clone();
        let numbers = [
            ("chunk", chunk.index),
            ("attempt", attempt.number),
            ("first", chunk.first),
            ("events", chunk.events),
            ("seed", chunk.seed),
        ];
        values.extend(numbers.map(|(hole, value)| (hole.to_owned(), value.to_string())));
        let staged = self.stage.as_ref().map(|stage| stage.fetch(&values)).transpose()?;
        values.extend(staged.iter().map(|staged| ("in".to_owned(), staged.path.display().to_string())));
        // The first word is the program, which its build may have put into what {out} was then.
        let Some((program, arguments)) = self.templates.split_first() else {
            return Err("there is no program to run".to_owned());
        };
        let mut argv = program.fill(&values);
        values.extend(attempt.out.as_ref().map(|out| ("out".to_owned(), out.display().to_string())));
        argv.extend(arguments.iter().flat_map(|template| template.fill(&values)));
        let order = LaunchSpec {
            commands: vec![argv],
            directory: self.program.directory.clone(),
            environment: self.program.environment.clone(),
            patience: self.program.patience,
            ..LaunchSpec::default()
        };
        let began = Instant::now();
        let report = self
            .starter
            .launch(&order, &Stopper::watching(Arc::clone(&attempt.stop)))
            .map_err(|error| error.to_string())?;
        staged.iter().try_for_each(StagedFile::check).map_err(|error| error.to_string())?;
        let copy = report.copies.first().ok_or("its helper started nothing")?;
        if let Some(trouble) = copy.how.trouble(self.program.patience) {
            let last = copy.stderr.lines().last().unwrap_or_default();
            return Err(format!("the program {trouble}: {last}"));
        }
        if self.stdout.as_ref().is_some_and(|expected| !expected.is_match(&copy.stdout)) {
            return Err("the program's output is not what the manifest expects".to_owned());
        }
        let text = match &self.digest {
            None => String::new(),
            Some(expression) => expression
                .captures(&copy.stdout)
                .and_then(|found| found.get(1))
                .map(|found| found.as_str().to_owned())
                .ok_or("the program printed no digest")?,
        };
        Ok(ChunkResult {
            events: chunk.events,
            digest: text_digest(chunk, &text),
            cpu: Some(report.user_seconds + report.system_seconds),
            wall: Some(began.elapsed().as_secs_f64()),
            read: Some(report.device_read + staged.as_ref().map_or(0, |staged| staged.copied)),
            written: None,
        })
    }
}

/// The events of a farm.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct EventRange {
    /// Process this many events
    #[arg(long, value_name = "N")]
    pub(super) events: u64,
    /// Put this many events in a chunk: a minute's work
    #[arg(long, value_name = "K")]
    pub(super) chunk: u64,
    /// Start at this event number
    #[arg(long, help_heading = "Events", value_name = "N", default_value_t = 0)]
    pub(super) first: u64,
    /// Set the seed of the events
    #[arg(long, help_heading = "Events", default_value_t = 1)]
    pub(super) seed: u64,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  prony farm input data --events 200 --chunk 50")]
pub(crate) struct InputArguments {
    /// Where to write
    directory: PathBuf,
    #[command(flatten)]
    range: EventRange,
}

pub(crate) fn input(arguments: &InputArguments, common: &CommonOptions) -> Result<ExitStatus> {
    let (directory, EventRange { first, events, chunk, seed }) = (&arguments.directory, arguments.range);
    let job = FarmJob { name: "input".to_owned(), work: Value::Null, seed, first, events, chunk, products: None };
    job.check()?;
    std::fs::create_dir_all(directory).with_context(|| format!("could not make {}", directory.display()))?;
    for chunk in (0..job.chunks()).filter_map(|index| job.cut(index)) {
        let path = ntuple(directory, chunk.first, chunk.events);
        let write = || {
            let file = std::io::BufWriter::new(std::fs::File::create(&path)?);
            physics::analyse::write_ntuple(file, seed, chunk.first, chunk.events)
        };
        write().with_context(|| format!("could not write {}", path.display()))?;
    }
    let (count, place) = (job.chunks(), directory.display().to_string());
    let data = serde_json::json!({ "ntuples": count, "directory": place });
    output::done(format!("Wrote {count} ntuples to {place}"), Vec::new(), ("ntuples directory", &data), common)
}
