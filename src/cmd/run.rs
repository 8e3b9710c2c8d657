//! `prony run`: measure this machine.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use measure::{RunRequest, Workers};
use model::{Plan, PlanEntry, Run};

use super::app::ams;
use super::rating::{self, RatingOptions};
use super::resume;
use super::session::{LocalSession, measured};
use super::target_device::{self, TargetMedium};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::run_options::{MeasureOptions, ResultSelection};
use crate::share::ShareMode;
use crate::value_parsers::seconds_or_none;
use crate::{evaluation, output};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony run --suite quick                        takes 20 seconds
  prony run --benchmark 'ipc.*' --time-limit 2m  some benchmarks
  prony run --suite babar --label web-3          the tables of a published evaluation")]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: ResultSelection,
    /// Measure files in this directory; repeatable [default: the current one]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    directory: Vec<PathBuf>,
    /// Overwrite this file, block device or tape drive: for --suite tape and medium=target
    #[arg(long, help_heading = "Files", value_name = "PATH", conflicts_with_all = ["directory", "resume"])]
    target_device: Option<PathBuf>,
    /// Use files 25% larger than the memory: for --suite ams
    #[arg(long, help_heading = "Files", conflicts_with = "benchmark")]
    beyond_memory: bool,
    /// Detect no interference, and keep every batch
    #[arg(long, help_heading = "Sampling", hide = true, conflicts_with = "resume")]
    no_rulers: bool,
    /// Wait at least this long between samples of a result [default: 1s, or 1/20 of a shorter time limit]
    #[arg(long, help_heading = "Sampling", value_name = "TIME", value_parser = seconds_or_none, env = "PRONY_SPACING", hide_env_values = true)]
    spacing: Option<f64>,
    /// Print every result, not only the key results
    #[arg(long)]
    all: bool,
    /// Write NAME.prony.json to share, without identifying data; =full: with everything
    #[arg(long, help_heading = "Output", value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "stripped",
          conflicts_with = "target_device")]
    share: Option<ShareMode>,
    #[command(flatten)]
    measure: MeasureOptions,
    #[command(flatten)]
    rating: RatingOptions,
}

impl Arguments {
    /// Seconds between rounds: as requested, else the usual ones, or a twentieth of a shorter limit, which leaves time
    /// for samples enough. Suites with a limit of their own fill it by themselves.
    fn spacing(&self) -> f64 {
        let fills = self.suite().is_some_and(benchmarks::Suite::fills);
        let usual = self.measure.rounds.time_limit.map_or(model::SPACING, |limit| model::SPACING.min(limit / 20.0));
        self.spacing.unwrap_or(if fills { 0.0 } else { usual })
    }

    /// The folder of a user's own evaluation, if the suite is one.
    fn folder(&self) -> Option<&Path> {
        self.selection
            .suite()
            .filter(|suite| benchmarks::suite(suite).is_none())
            .map(Path::new)
            .filter(|path| path.is_dir())
    }

    /// The selected suite of the catalogue.
    fn suite(&self) -> Option<&'static benchmarks::Suite> {
        self.selection.suite().and_then(benchmarks::suite)
    }
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let options = &arguments.measure;
    let resumed = options.resume.as_ref().map(|name| resume::find(name, "run", common)).transpose()?;
    ensure!(
        resumed.is_none() || !arguments.selection.given(),
        "--resume has the results of the run that it resumes; leave --suite and --benchmark out"
    );
    let frozen = match &resumed {
        Some(run) => Some(run.plan.suite.clone()).filter(|_| resume::is_rating(run)),
        None => arguments.selection.suite().filter(|suite| rating::is_suite(suite)).map(str::to_owned),
    };
    if let Some(suite) = frozen {
        ensure!(
            arguments.selection.benchmark.is_empty()
                && arguments.directory.is_empty()
                && arguments.target_device.is_none(),
            "the frozen sets have no benchmarks and no files; leave --benchmark, --directory and --target-device out"
        );
        return rating::measure(&suite, resumed, &arguments.rating, options, common);
    }
    let of_ams = |suite: &str| suite == ams::SUITE;
    let ams = match &resumed {
        Some(run) => of_ams(&run.plan.suite),
        None => arguments.selection.suite().is_some_and(of_ams),
    };
    ensure!(ams || !arguments.beyond_memory, "--beyond-memory is for the sessions of --suite ams");
    if ams {
        ensure!(
            arguments.selection.benchmark.is_empty() && arguments.target_device.is_none() && !arguments.rating.given(),
            "the suite ams has no benchmarks and no medium; measure --suite tape separately"
        );
        let directory = arguments.directory.first().cloned().unwrap_or_else(|| PathBuf::from("."));
        return ams::measure((&directory, arguments.beyond_memory), resumed, options, common);
    }
    ensure!(!arguments.rating.given(), "--copies and --build are for the frozen sets: --suite int-1, fp-1 or rating");
    catalogue(arguments, resumed, common)
}

/// Measures results of the catalogue.
fn catalogue(arguments: &Arguments, resumed: Option<Run>, common: &CommonOptions) -> Result<ExitStatus> {
    let ends_by_itself = arguments.suite().is_some_and(|suite| !suite.fills());
    let options = &if ends_by_itself { arguments.measure.of_suite() } else { arguments.measure.clone() };
    let (request, medium) = match resumed {
        None => fresh(arguments)?,
        Some(run) => resumable(run)?,
    };
    let purpose = format!("run, suite {}", request.suite());
    let mut session = LocalSession::open(&purpose, options, common)?.needing_intervals();
    let order = match request {
        Requested::Fresh(order) => session.begin(*order),
        Requested::Resumed(run) => session.resume(*run)?,
    };
    if !options.quiet {
        if let Some(medium) = &medium {
            output::remark(&medium.warning());
        }
        announce_duration(order.run());
    }
    let mut subject = workers()?;
    let result = session.measure(order, &mut subject)?;
    let tables = evaluation::of_suite(&result.run.plan.suite)?;
    let mut requested = result.run.results.iter().filter(|result| !result.is_condition());
    let begun = requested.any(|result| !result.samples.is_empty());
    let shared = arguments.share.filter(|_| begun).map(|mode| crate::share::write(&result.run, mode));
    let exit = session.conclude(
        result,
        |run, context| {
            let context = &report::view::RunContext { brief: true, ..context.clone() };
            Ok(match &tables {
                Some(tables) => report::view::in_tables_measured(run, tables, context),
                None if arguments.all => report::view::run(run, context),
                None => report::view::answer(run, context),
            })
        },
        measured,
    )?;
    if let Some(shared) = shared {
        output::remark(&shared?);
    }
    Ok(exit)
}

/// Duration above which a run is announced, seconds.
const LONG: f64 = 60.0;

/// Announces the duration of a long run.
fn announce_duration(run: &Run) {
    let checkpoints =
        (run.plan.checkpoints.first().copied().unwrap_or(1), run.plan.checkpoints.last().copied().unwrap_or(1));
    let finished = |result: &model::BenchmarkResult| !result.samples.is_empty() && !result.has(model::Flag::Unfinished);
    let entries = run.plan.entries.iter().zip(&run.results);
    let open: Vec<&PlanEntry> = entries.filter(|(_, result)| !finished(result)).map(|(entry, _)| entry).collect();
    let cpus = run.machine.topology.as_ref().map_or(1, |machine| machine.allowed.len().max(1));
    let round: f64 = open.iter().map(|entry| measure::expected_seconds(entry, cpus)).sum();
    let seconds = |look: u32| round * f64::from(look);
    if seconds(checkpoints.0) < LONG || run.plan.time_limit.is_some_and(|limit| limit < LONG) {
        return;
    }
    let time = report::words::duration;
    let bounded = run
        .plan
        .time_limit
        .map_or_else(|| " (--time-limit sets a limit)".to_owned(), |limit| format!(", at most {}", time(limit)));
    output::remark(&format!(
        "{}: roughly {} to {}{bounded}. Ctrl-C keeps what was measured; --resume continues",
        report::words::plural(open.len(), "result"),
        time(seconds(checkpoints.0)),
        time(seconds(checkpoints.1)),
    ));
}

/// Workers of this same program.
pub(crate) fn workers() -> Result<Workers> {
    let program = std::env::current_exe().context("could not find this program's own file")?;
    Ok(Workers::new(program, ["worker"]))
}

/// What is to be measured.
enum Requested {
    /// A new run.
    Fresh(Box<RunRequest>),
    /// The rest of an interrupted run.
    Resumed(Box<Run>),
}

impl Requested {
    fn suite(&self) -> &str {
        match self {
            Self::Fresh(order) => &order.run().plan.suite,
            Self::Resumed(run) => &run.plan.suite,
        }
    }
}

fn resumable(run: Run) -> Result<(Requested, Option<TargetMedium>)> {
    let medium = run.plan.directory.as_ref().filter(|_| target_device::is_of(&run.plan.entries));
    let medium = medium.map(|path| TargetMedium::claim(path.as_ref())).transpose()?;
    Ok((Requested::Resumed(Box::new(run)), medium))
}

fn fresh(arguments: &Arguments) -> Result<(Requested, Option<TargetMedium>)> {
    let target = arguments.measure.rounds.target();
    let entries = match arguments.folder() {
        Some(folder) => {
            ensure!(
                arguments.selection.benchmark.is_empty() && arguments.target_device.is_none(),
                "an evaluation's tables define what is measured; leave out --benchmark and --target-device"
            );
            evaluation::entries(&evaluation::of_folder(folder)?, target)?
        }
        None => arguments.selection.entries(target)?,
    };
    let medium = medium(arguments, &entries)?;
    let plan = plan(arguments, entries, medium.as_ref())?;
    let further = plan.more_directories.iter().map(PathBuf::from);
    let directories: Vec<PathBuf> = plan.directory.iter().map(PathBuf::from).chain(further).collect();
    let allowed = kernels::affinity::allowed()?;
    if arguments.folder().is_none() {
        // Of an evaluation's tables, what this machine lacks is a cell that says so.
        measure::refuse_more_threads_than_cpus(&plan.entries, &allowed)?;
    }
    let mut machine = measure::machine(&directories);
    machine.facts.extend(medium.as_ref().map(TargetMedium::fact));
    let notes = measure::notes(&machine, &allowed);
    let order = RunRequest::new(plan, machine, measure::identity(), allowed)?.noting(notes);
    Ok((Requested::Fresh(Box::new(order)), medium))
}

/// The medium to be overwritten, if the suite uses one.
fn medium(arguments: &Arguments, entries: &[PlanEntry]) -> Result<Option<TargetMedium>> {
    let wanted = arguments.selection.suite() == Some(target_device::SUITE);
    match &arguments.target_device {
        None if wanted && !arguments.selection.benchmark.is_empty() => {
            bail!(
                "the suite tape measures one medium alone; leave --benchmark out and name the medium with --target-device"
            )
        }
        None if wanted => bail!(
            "the suite tape overwrites a medium; name a new file, a block device or a tape drive with --target-device"
        ),
        None => Ok(None),
        Some(_) if !target_device::is_of(entries) => {
            bail!("--target-device is used only with --suite tape or results at medium=target; give both")
        }
        Some(path) => TargetMedium::claim(path).map(Some),
    }
}

/// Most directories of a run.
const DIRECTORIES: usize = 9;

/// The directories of the file results, or the medium in their place.
fn places(arguments: &Arguments, medium: Option<&TargetMedium>) -> Result<Vec<PathBuf>> {
    if let Some(medium) = medium {
        return Ok(vec![medium.path().to_owned()]);
    }
    let here = [PathBuf::from(".")];
    let named = if arguments.directory.is_empty() { &here[..] } else { &arguments.directory };
    ensure!(named.len() <= DIRECTORIES, "--directory is given {} times; a run has {DIRECTORIES} at most", named.len());
    let found: Vec<PathBuf> = named.iter().map(|directory| place(directory)).collect::<Result<_>>()?;
    for (index, directory) in found.iter().enumerate() {
        ensure!(!found[..index].contains(directory), "{} is named twice with --directory", directory.display());
    }
    Ok(found)
}

/// The same results in every further directory, each after its own in the first.
fn in_all(entries: Vec<PlanEntry>, directories: usize) -> Vec<PlanEntry> {
    let places = |entry: PlanEntry| {
        let last = if entry.parameters.get("place") == Some("target") { directories } else { 1 };
        let more = (2..=last).map({
            let entry = entry.clone();
            move |number| {
                let parameters = entry.parameters.clone().with("place", format!("target{number}"));
                let shares = benchmarks::find(&entry.benchmark).and_then(|benchmark| benchmark.sharing(&parameters));
                PlanEntry { parameters, shares, ..entry.clone() }
            }
        });
        std::iter::once(entry).chain(more).collect::<Vec<_>>()
    };
    entries.into_iter().flat_map(places).collect()
}

fn place(directory: &Path) -> Result<PathBuf> {
    let directory = directory.canonicalize().with_context(|| {
        format!("could not find the directory {}; name one that exists with --directory", directory.display())
    })?;
    if directory.is_file() {
        bail!("{} is a file; name a directory with --directory", directory.display());
    }
    // Documents are UTF-8: by another name of theirs another directory would be made and measured.
    ensure!(
        directory.to_str().is_some(),
        "the name of {} is not UTF-8, which documents are; name another directory with --directory",
        directory.display()
    );
    Ok(directory)
}

fn plan(arguments: &Arguments, entries: Vec<PlanEntry>, medium: Option<&TargetMedium>) -> Result<Plan> {
    let selection = &arguments.selection;
    let directories = places(arguments, medium)?;
    // The folder is the name of the suite, so that its tables are found again.
    let suite = match arguments.folder() {
        Some(folder) => folder.canonicalize()?.to_string_lossy().into_owned(),
        None => selection.suite().unwrap_or("benchmarks").to_owned(),
    };
    Ok(Plan {
        suite,
        seed: arguments.measure.rounds.seed(),
        target: arguments.measure.rounds.target(),
        time_limit: selection.limit(arguments.measure.rounds.time_limit),
        spacing: arguments.spacing(),
        directory: directories.first().map(|directory| directory.to_string_lossy().into_owned()),
        more_directories: directories
            .iter()
            .skip(1)
            .map(|directory| directory.to_string_lossy().into_owned())
            .collect(),
        sensors: !arguments.no_rulers,
        entries: in_all(entries, directories.len()),
        ..Plan::default()
    })
}
