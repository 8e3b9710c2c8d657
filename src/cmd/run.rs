//! `prony run`: measure this machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use clap::Args;
use measure::{EndReason, MeasureSession, ProcessEngine, RunRequest, RunResult, Saver, Stopper};
use model::{Outcome, Plan, PlanEntry, Run};
use report::view::RunContext;
use store::{Claim, Detail, MachineLock, Store};

use super::target_device::{self, TargetMedium};
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::progress::ProgressLine;
use crate::run_options::RunOptions;
use crate::run_saver::{RunSaver, SaveOptions};
use crate::{evaluation, output, run_finder};

/// Options of `prony run`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: RunOptions,
    #[command(flatten)]
    saving: SaveOptions,
    /// Directory in which the file figures are measured [default: the present one]
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// The figures of an evaluation's tables, and those tables: a folder with evaluation.toml
    #[arg(long, value_name = "DIR", conflicts_with_all = ["suite", "probe", "resume", "target_device"])]
    evaluation: Option<PathBuf>,
    /// Medium of --suite tape, which writes over it: a file to be made, a block device or a tape drive
    #[arg(long, value_name = "PATH", conflicts_with_all = ["probe", "directory"])]
    target_device: Option<PathBuf>,
    /// Go on with a run that was cut off
    #[arg(long, value_name = "RUN", conflicts_with_all = ["suite", "probe", "seed", "directory", "target_device"])]
    resume: Option<String>,
    /// No progress line
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let (order, medium) = order(arguments, common)?;
    let target = order.run().plan.target;
    let stopper = watch_for_signals()?;
    let mut saver = RunSaver::open(&arguments.saving, common)?;
    let claim = claim(&format!("run, suite {}", order.run().plan.suite));
    let earlier = earlier(saver.store(), order.run());
    let order = order.beside(claim.beside.clone()).after(earlier.iter());
    if !arguments.quiet {
        if let Some(medium) = &medium {
            output::remark(&medium.warning());
        }
        foretell(order.run());
    }
    let mut engine = engine()?;
    let visible = !arguments.quiet && std::io::IsTerminal::is_terminal(&std::io::stderr());
    let mut progress = ProgressLine::new(target, visible);
    let ended = MeasureSession::measure(order, &mut engine, &mut progress, &mut saver, stopper)?;
    conclude(ended, saver, arguments, common)
}

/// A run that takes less than this many seconds needs no announcement.
const LONG: f64 = 60.0;

/// Says beforehand how long a long run will take.
fn foretell(run: &Run) {
    let looks = (run.plan.looks.first().copied().unwrap_or(1), run.plan.looks.last().copied().unwrap_or(1));
    let settled = |figure: &model::Figure| !figure.launches.is_empty() && !figure.has(model::Flag::Unfinished);
    let entries = run.plan.entries.iter().zip(&run.figures);
    let open: Vec<&PlanEntry> = entries.filter(|(_, figure)| !settled(figure)).map(|(entry, _)| entry).collect();
    let round: f64 = open.iter().copied().map(measure::expected_seconds).sum();
    let seconds = |look: u32| round * f64::from(look);
    if seconds(looks.0) < LONG || run.plan.time_limit.is_some_and(|limit| limit < LONG) {
        return;
    }
    let time = report::words::duration;
    let bounded = run.plan.time_limit.map_or_else(
        || "; --time-limit bounds it".to_owned(),
        |limit| format!("; it ends after {} with what is settled by then", time(limit)),
    );
    output::remark(&format!(
        "{} figures, {} to {} launches each: roughly {} to {}{bounded}; Ctrl-C keeps what was measured, --resume goes on",
        open.len(),
        looks.0,
        looks.1,
        time(seconds(looks.0)),
        time(seconds(looks.1)),
    ));
}

/// Workers of this same program.
pub(crate) fn engine() -> Result<ProcessEngine> {
    let program = std::env::current_exe().context("could not find this program's own file")?;
    Ok(ProcessEngine::new(program, ["worker"]))
}

fn order(arguments: &Arguments, common: &CommonOptions) -> Result<(RunRequest, Option<TargetMedium>)> {
    let allowed = sys::affinity::allowed()?;
    let identity = measure::identity();
    let command = model::presentable(std::env::args());
    if let Some(name) = &arguments.resume {
        let found = run_finder::find(std::slice::from_ref(name), common, Detail::Whole)?;
        let run = found.into_iter().next().context("no such run")?.run;
        let medium = run.plan.directory.as_ref().filter(|_| run.plan.suite == target_device::SUITE);
        let medium = medium.map(|path| TargetMedium::claim(path.as_ref())).transpose()?;
        let mut order = RunRequest::resume(run, &identity, allowed)?.labelled(arguments.saving.label.clone());
        if arguments.selection.time_limit.is_some() {
            order = order.limited_to(arguments.selection.time_limit);
        }
        return Ok((order, medium));
    }
    let entries = match &arguments.evaluation {
        Some(folder) => evaluation::entries(&evaluation::of_folder(folder)?, arguments.selection.target)?,
        None => arguments.selection.entries()?,
    };
    let medium = medium(arguments)?;
    let plan = plan(arguments, entries, medium.as_ref())?;
    let directory = PathBuf::from(plan.directory.clone().unwrap_or_default());
    let mut machine = measure::machine(&[directory]);
    machine.facts.extend(medium.as_ref().map(TargetMedium::fact));
    let notes = measure::notes(&machine, &allowed);
    let order = RunRequest::new(plan, machine, identity, allowed)?
        .labelled(arguments.saving.label.clone())
        .asked_by(command)
        .noting(notes);
    Ok((order, medium))
}

/// The medium to be written over, where the suite is the one that does so.
fn medium(arguments: &Arguments) -> Result<Option<TargetMedium>> {
    let wanted = arguments.selection.suite() == Some(target_device::SUITE);
    match &arguments.target_device {
        None if wanted && !arguments.selection.probe.is_empty() => {
            bail!(
                "the suite tape measures one medium alone; leave --probe out and name the medium with --target-device"
            )
        }
        None if wanted => bail!(
            "the suite tape needs a medium that it may write over; name a file to be made, a block device or a tape drive with \
             --target-device"
        ),
        None => Ok(None),
        Some(_) if !wanted => bail!("--target-device is written over by --suite tape, and by nothing else; give both"),
        Some(path) => TargetMedium::claim(path).map(Some),
    }
}

/// The directory of the file figures, or the medium in its place.
fn place(arguments: &Arguments, medium: Option<&TargetMedium>) -> Result<PathBuf> {
    if let Some(medium) = medium {
        return Ok(medium.path().to_owned());
    }
    let directory = arguments.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let directory = directory.canonicalize().with_context(|| {
        format!("could not find the directory {}; name one that exists with --directory", directory.display())
    })?;
    if directory.is_file() {
        bail!("{} is a file; name a directory with --directory", directory.display());
    }
    Ok(directory)
}

fn plan(arguments: &Arguments, entries: Vec<PlanEntry>, medium: Option<&TargetMedium>) -> Result<Plan> {
    let selection = &arguments.selection;
    let directory = place(arguments, medium)?;
    // The folder is the suite's name, so that its tables are found again.
    let suite = match &arguments.evaluation {
        Some(folder) => folder.canonicalize()?.to_string_lossy().into_owned(),
        None => selection.suite().unwrap_or("probes").to_owned(),
    };
    Ok(Plan {
        suite,
        seed: selection.seed(),
        target: selection.target,
        time_limit: selection.limit(),
        directory: Some(directory.to_string_lossy().into_owned()),
        references: selection.references(),
        entries,
        ..Plan::default()
    })
}

/// The first Ctrl-C (or polite kill) ends the run in order; a second one ends the program at once.
pub(crate) fn watch_for_signals() -> Result<Stopper> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .context("could not watch for Ctrl-C")?;
    }
    Ok(Stopper::watching(flag))
}

/// What came of claiming the machine: the claim itself, or who else measures here.
pub(crate) struct MachineClaim {
    _lock: Option<MachineLock>,
    /// The other measurement in its own words.
    pub(crate) beside: Option<String>,
}

/// Two runs at once disturb each other: the person is told, and decides; the run keeps it.
pub(crate) fn claim(purpose: &str) -> MachineClaim {
    match MachineLock::claim(&store::machine_lock_path(), &format!("prony {purpose}")) {
        Ok(Claim::Alone(lock)) => MachineClaim { _lock: Some(lock), beside: None },
        Ok(Claim::Taken(holder)) => {
            let who = holder.map_or_else(|| "another process".to_owned(), |holder| holder.to_string());
            output::remark(&format!("warning: another run measures here, {who}; each disturbs the other's figures"));
            MachineClaim { _lock: None, beside: Some(who) }
        }
        // Nothing is known then, which is no reason not to measure.
        Err(_) => MachineClaim { _lock: None, beside: None },
    }
}

fn conclude(
    ended: RunResult,
    mut saver: RunSaver,
    arguments: &Arguments,
    common: &CommonOptions,
) -> Result<ExitStatus> {
    let RunResult { run, ending } = ended;
    let ending = match ending {
        failed @ EndReason::NotSaved(_) => failed,
        ending => saver.save(&run).err().map_or(ending, EndReason::NotSaved),
    };
    let saved = !matches!(ending, EndReason::NotSaved(_));
    let handle = saver.number.map(|number| number.to_string());
    let previous = previous(saver.store(), &run);
    let context = RunContext { handle: handle.clone(), previous, stored: saved && handle.is_some() };
    let document = match evaluation::of_suite(&run.plan.suite)? {
        Some(tables) => report::view::in_tables_measured(&run, &tables, &context),
        None => report::view::run(&run, &context),
    };
    output::print(&document, common)?;
    let name = handle.unwrap_or_else(|| run.id.clone());
    match ending {
        EndReason::NotSaved(reason) => {
            output::remark(&format!("the run could not be kept: {reason}; what was measured stands above"));
            Ok(ExitStatus::Failed)
        }
        EndReason::Stopped => {
            let resume = if arguments.saving.no_store {
                String::new()
            } else {
                format!("; go on with: prony run --resume {name}")
            };
            output::remark(&format!("stopped; what was measured is kept{resume}"));
            Ok(ExitStatus::Stopped)
        }
        EndReason::Complete | EndReason::TimeLimit if measured(&run) => Ok(ExitStatus::Fine),
        EndReason::Complete | EndReason::TimeLimit => {
            output::remark("nothing could be measured; the table says why");
            Ok(ExitStatus::Failed)
        }
    }
}

fn measured(run: &Run) -> bool {
    run.figures
        .iter()
        .any(|figure| matches!(figure.outcome, Outcome::Measured(_) | Outcome::Below { .. } | Outcome::Modes(_)))
}

/// The newest earlier runs of the same machine, which may know its unshared core.
fn earlier(store: Option<&dyn Store>, run: &Run) -> Vec<Run> {
    /// Enough that one of them saw its core with and without a neighbour.
    const NEWEST: usize = 5;
    let read = |store: &dyn Store| -> Option<Vec<Run>> {
        let mut same = store.summaries().ok()?;
        same.retain(|other| other.fingerprint == run.machine.fingerprint && other.tool.is_none());
        same.sort_by_key(|other| std::cmp::Reverse(other.number));
        Some(same.iter().take(NEWEST).filter_map(|other| store.get(&other.id, Detail::Values).ok()).collect())
    };
    store.and_then(read).unwrap_or_default()
}

/// An earlier run of the same machine, to be named as what this one may be compared with.
fn previous(store: Option<&dyn Store>, run: &Run) -> Option<String> {
    let summaries = store?.summaries().ok()?;
    let mut earlier: Vec<_> = summaries
        .iter()
        .filter(|other| other.id != run.id && other.fingerprint == run.machine.fingerprint && other.tool.is_none())
        .collect();
    earlier.sort_by_key(|other| other.number);
    earlier.last().map(|other| other.number.to_string())
}
