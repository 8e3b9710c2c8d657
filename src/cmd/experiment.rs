//! `prony experiment`: settings of this machine, switched between short measurements.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use compare::experiment::SettingEffects;
use experiment::{
    Chosen, Error, Experiment, FreshProcesses, JournalFolder, Keeper, Left, Row, Switch, System, Wanted, choose,
    journalled, rows,
};
use model::{PlanEntry, Run, Verdict};
use report::Document;
use report::view::{ExperimentContext, RunContext};

use super::session::LocalSession;
use crate::ExitStatus;
use crate::cli::{CliCommand, CommonOptions};
use crate::output;
use crate::run_options::{MeasureOptions, RoundOptions, draw_seed};
use crate::run_saver::SaveOptions;
use crate::value_parsers::seconds;

/// Blocks of each setting, if no other number is asked for.
pub(super) const BLOCKS: u32 = 16;
/// Timed batches of a sample: a block has four samples, and a row many blocks.
const BATCHES: u32 = 10;
/// Most settings whose pairs are tried.
const IN_PAIRS: usize = 4;
/// Name of the suite of the runs.
pub(crate) const SUITE: &str = "experiment";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony experiment --metric os.context_switch
  prony experiment --metric os.syscall_getppid --try seccomp --try store_bypass
  sudo prony experiment --metric memory.load_latency --allow system --try transparent_huge_pages")]
pub(crate) struct Arguments {
    /// Measure this benchmark, such as os.context_switch or memory.load_latency:working_set=64MiB
    #[arg(long, value_name = "BENCHMARK", required_unless_present = "undo")]
    metric: Option<String>,
    /// Try this setting: its name, NAME=VALUE or all; repeatable [default: what may touch the metric]
    #[arg(long = "try", value_name = "SETTING")]
    tried: Vec<String>,
    /// Allow settings of the whole machine; all of them are restored
    #[arg(long, value_name = "WHAT", value_parser = ["system"])]
    allow: Option<String>,
    /// Measure each setting in this many blocks
    #[arg(long, value_name = "N", default_value_t = BLOCKS, value_parser = clap::value_parser!(u32).range(8..=1000))]
    blocks: u32,
    /// Try pairs of the settings that matter as well
    #[arg(long)]
    interactions: bool,
    /// Restore what a killed experiment left, and end
    #[arg(long, help_heading = "Settings", conflicts_with_all = ["metric", "tried"])]
    undo: bool,
    /// Stop after this time, such as 90s or 5m [default: none]
    #[arg(long, help_heading = "Sampling", value_name = "TIME", value_parser = seconds)]
    time_limit: Option<f64>,
    /// Set the seed of orders and memory layouts [default: random]
    #[arg(long, help_heading = "Sampling")]
    seed: Option<u64>,
    #[command(flatten)]
    saving: SaveOptions,
    /// Print no progress
    #[arg(long, help_heading = "Output", short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let system = System::this();
    if arguments.undo {
        return undo(&system, common);
    }
    let metric = one_metric(arguments.metric.as_deref().unwrap_or_default())?;
    let wanted = Wanted { names: arguments.tried.clone(), system: arguments.allow.is_some() };
    let mut chosen = choose(&system, &wanted, &metric)?;
    chosen.leave_out_refused(std::env::current_exe()?.as_os_str());
    let Chosen { switches, not_tried } = chosen;
    if let (true, Some((title, reason))) = (switches.is_empty(), not_tried.first()) {
        anyhow::bail!("could not try {title}: {reason}");
    }
    let request = Request {
        rows: rows(&switches),
        metric,
        not_tried,
        blocks: arguments.blocks,
        time_limit: arguments.time_limit,
        seed: arguments.seed.unwrap_or_else(draw_seed),
        saving: arguments.saving.clone(),
        quiet: arguments.quiet,
    };
    let (exit, found) = measure(&request, &system, common, &draw)?;
    let pairs = if arguments.interactions { pairs(&switches, found.as_ref()) } else { Vec::new() };
    if exit != ExitStatus::Fine || pairs.is_empty() {
        return Ok(exit);
    }
    let nothing = rows(&[]);
    let request = Request { rows: nothing.into_iter().chain(pairs).collect(), not_tried: Vec::new(), ..request };
    Ok(measure(&request, &system, common, &draw)?.0)
}

/// An experiment as it is measured.
pub(super) struct Request {
    pub(super) metric: PlanEntry,
    pub(super) rows: Vec<Row>,
    /// Titles of other settings, and why they are not tried.
    pub(super) not_tried: Vec<(String, String)>,
    pub(super) blocks: u32,
    pub(super) time_limit: Option<f64>,
    pub(super) seed: u64,
    pub(super) saving: SaveOptions,
    pub(super) quiet: bool,
}

/// Draws the run of an experiment.
pub(super) type Draw<'a> = dyn Fn(&Run, &ExperimentContext) -> Result<Document> + 'a;

/// Measures, restores everything, saves the run and prints what it shows.
pub(super) fn measure(
    request: &Request,
    system: &System,
    common: &CommonOptions,
    draw: &Draw<'_>,
) -> Result<(ExitStatus, Option<SettingEffects>)> {
    let options = MeasureOptions {
        rounds: RoundOptions { target: None, time_limit: request.time_limit, seed: Some(request.seed) },
        max_samples: None,
        push: None,
        resume: None,
        saving: request.saving.clone(),
        quiet: request.quiet,
    };
    let mut session = LocalSession::open(SUITE, &options, common)?;
    let fresh = planned(request);
    let (machine, allowed) = (fresh.machine.topology.clone(), kernels::affinity::allowed()?);
    let machine = machine.unwrap_or_else(|| model::Topology::unknown(&allowed));
    let better = fresh.results.first().map_or(model::Better::Lower, |first| first.metric.better);
    let program = std::env::current_exe().context("could not find this program's own file")?;
    let keeper = keeper(system, request, &program)?;
    let order = session.order(fresh, None)?;
    let mut bench = FreshProcesses::new(program.into_os_string(), request.metric.clone(), machine, allowed, keeper);
    let measured = session.measure(order, &mut Experiment::new(&mut bench, request.rows.clone(), better));
    if let Some(keeper) = bench.keeper() {
        tell(&keeper.end()?);
    }
    let result = measured?;
    let found = compare::experiment::effects(&result.run);
    let context = |context: &RunContext| ExperimentContext {
        not_tried: request.not_tried.clone(),
        handle: context.handle.clone(),
    };
    let exit =
        session.keep_nothing_without_samples().conclude(result, |run, of_run| draw(run, &context(of_run)), |_| true)?;
    let decided =
        found.as_ref().is_some_and(|found| found.effects.iter().any(|effect| effect.verdict != Verdict::Inconclusive));
    Ok((if exit == ExitStatus::Fine && !decided { ExitStatus::Inconclusive } else { exit }, found))
}

/// The document without samples.
fn planned(request: &Request) -> Run {
    let directory = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    // A number of blocks leaves no decision to the intervals: one look, at its end.
    let mut run = application::document(SUITE, request.seed, f64::MIN_POSITIVE, request.time_limit, directory);
    run.plan.batches = BATCHES;
    run.plan.checkpoints = vec![request.blocks];
    experiment::fill(&mut run, &request.metric, &request.rows);
    run
}

/// The keeper of what these rows change outside the processes that measure.
fn keeper(system: &System, request: &Request, program: &std::path::Path) -> Result<Option<Keeper>> {
    let switches: Vec<Switch> = request.rows.iter().flat_map(|row| row.switches().iter().cloned()).collect();
    let (items, groups) = journalled(system, &switches)?;
    if items.is_empty() && groups.is_empty() {
        return Ok(None);
    }
    if !items.is_empty() && !request.quiet {
        let mut addresses: Vec<&str> = items.iter().map(|item| item.address.as_str()).collect();
        addresses.truncate(3);
        let rest = items.len().saturating_sub(3);
        let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        output::remark(&format!("switches {}{rest}, and restores each after every measurement", addresses.join(", ")));
    }
    let mut guardian = os::process::command_of(program.as_os_str());
    guardian.arg("guardian").arg(folder()?);
    Ok(Some(Keeper::begin(system.clone(), &folder()?, items, groups, guardian)?))
}

/// Says in one line that a killed experiment left changes, before every command of a person.
pub(crate) fn remind(command: &CliCommand) {
    let silent = matches!(
        command,
        CliCommand::Experiment(_)
            | CliCommand::Guardian { .. }
            | CliCommand::Completions(_)
            | CliCommand::Component { .. }
            | CliCommand::Agent(_)
            | CliCommand::Worker
    );
    if let Some(line) = folder().ok().filter(|_| !silent).and_then(|folder| experiment::left_behind(&folder)) {
        output::remark(&line);
    }
}

/// The folder of the journal: that of the store, unless another store is named.
pub(crate) fn folder() -> Result<PathBuf> {
    let path = store::default_path()?;
    Ok(path.parent().map_or_else(|| PathBuf::from("."), std::path::Path::to_path_buf))
}

/// The one result that a metric names.
pub(super) fn one_metric(name: &str) -> Result<PlanEntry> {
    let mut found = measure::select(None, &[name.to_owned()], 0.02)?;
    let usual = |entry: &PlanEntry| {
        let benchmark = benchmarks::find(&entry.benchmark)?;
        benchmark.default_points().into_iter().next().filter(|first| *first == entry.parameters)
    };
    // Of several sets of parameters the first of the default suite stands for the benchmark.
    let first = found.iter().position(|entry| usual(entry).is_some()).unwrap_or(0);
    Ok(found.swap_remove(first))
}

/// Every two of the settings that matter, the largest effects first.
fn pairs(switches: &[Switch], found: Option<&SettingEffects>) -> Vec<Row> {
    let effects = found.map_or(&[][..], |found| &found.effects);
    let matter: Vec<&Switch> = effects
        .iter()
        .filter(|effect| effect.verdict.differs())
        .filter_map(|effect| {
            switches.iter().find(|switch| switch.setting.id == effect.setting && switch.to == effect.to)
        })
        .take(IN_PAIRS)
        .collect();
    let both = |(at, first): (usize, &&Switch)| -> Vec<Row> {
        let others = matter[at + 1..].iter().filter(|second| second.setting != first.setting);
        others.map(|second| Row::Interaction([(*first).clone(), (*second).clone()])).collect()
    };
    matter.iter().enumerate().flat_map(both).collect()
}

fn undo(system: &System, common: &CommonOptions) -> Result<ExitStatus> {
    let folder = JournalFolder::claim(&folder()?)?;
    if !folder.has_journal() {
        return said("nothing is left to restore".to_owned(), common);
    }
    let (restored, left) = folder.restore(system)?;
    tell(&left);
    let failed = left.iter().any(|one| matches!(one, Left::Failed { .. }));
    said(format!("{} restored", report::words::plural(restored, "value")), common)?;
    Ok(if failed { ExitStatus::Failed } else { ExitStatus::Fine })
}

fn said(words: String, common: &CommonOptions) -> Result<ExitStatus> {
    let data = serde_json::json!({ "said": words });
    output::done(words, Vec::new(), ("said", &data), common)
}

fn tell(left: &[Left]) {
    left.iter().for_each(|one| output::remark(&one.to_string()));
}

/// What the run of an experiment shows.
fn draw(run: &Run, context: &ExperimentContext) -> Result<Document> {
    let found = compare::experiment::effects(run).context("the experiment has no results")?;
    Ok(report::view::experiment(run, &found, context))
}

/// The report of a stored run, if it is an experiment.
pub(super) fn stored(run: &Run, context: &RunContext) -> Option<Document> {
    let context = ExperimentContext { handle: context.handle.clone(), ..ExperimentContext::default() };
    compare::experiment::effects(run).map(|found| report::view::experiment(run, &found, &context))
}

/// `prony under SETTING=VALUE...`: sets them in this process, then becomes a worker.
pub(crate) fn under(arguments: impl Iterator<Item = String>) -> Result<ExitStatus> {
    let mut arguments = arguments.peekable();
    if arguments.next_if(|first| first == experiment::CHECK).is_some() {
        let refused = experiment::check(&arguments.next().unwrap_or_default()).err();
        return output::write(refused.unwrap_or_default().as_bytes());
    }
    let variables = experiment::set_all(arguments).map_err(Error::Request)?;
    let own: OsString = std::env::current_exe()?.into_os_string();
    let mut worker = os::process::command_of(&own);
    worker.arg("worker");
    for (name, value) in variables {
        match value {
            Some(value) => worker.env(name, value),
            None => worker.env_remove(name),
        };
    }
    Err(worker.exec()).context("could not start the worker")
}

/// `prony guardian FOLDER`: restores what an experiment that is killed leaves.
pub(crate) fn guardian(folder: &std::path::Path) -> Result<ExitStatus> {
    let input = experiment::standard_input().context("there is no experiment to guard")?;
    let (restored, left) = experiment::guard(&System::this(), folder, input)?;
    if restored > 0 {
        let values = report::words::plural(restored, "value");
        output::remark(&format!("the experiment was killed; {values} restored"));
    }
    tell(&left);
    Ok(ExitStatus::Fine)
}
