//! `prony run`: measure this machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use clap::Args;
use measure::{Ended, Ending, Order, ProcessEngine, Saver, Session, Stopper};
use model::{Outcome, Plan, Run};
use report::view::RunContext;
use store::{Claim, Detail, MachineLock, Store};

use crate::Exit;
use crate::cli::Common;
use crate::progress::Progress;
use crate::settings::{percent, seconds};
use crate::{evaluation, house, output};

/// Options of `prony run`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A named selection of figures (prony list --suites) [default: default]
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// A probe, at a point or its usual ones: os.fork_exit, 'ipc.*', memory.copy:threads=1,working_set=64MiB
    #[arg(long, value_name = "PROBE[:POINT]")]
    probe: Vec<String>,
    /// Half-width of the interval at which a figure is settled, in percent
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = percent)]
    target: f64,
    /// Begin no further round after this time, such as 90s or 5m [default: the suite's, see list --suites --json]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    time_limit: Option<f64>,
    /// Seed of orders and memory layouts [default: drawn]
    #[arg(long)]
    seed: Option<u64>,
    /// A name for the run
    #[arg(long)]
    label: Option<String>,
    /// Directory in which the file figures are measured [default: the present one]
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Write the run document to this file as well
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Keep the run nowhere but in --output
    #[arg(long, requires = "output")]
    no_store: bool,
    /// Go on with a run that was cut off
    #[arg(long, value_name = "RUN", conflicts_with_all = ["suite", "probe", "seed", "directory"])]
    resume: Option<String>,
    /// No progress line
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Exit> {
    let order = order(arguments, common)?;
    let target = order.run().plan.target;
    let stopper = watch_for_signals()?;
    let mut keeper = Keeper::open(arguments, common)?;
    let _claim = claim(&format!("run, suite {}", order.run().plan.suite));
    if !arguments.quiet {
        foretell(order.run());
    }
    let mut engine = engine()?;
    let visible = !arguments.quiet && std::io::IsTerminal::is_terminal(&std::io::stderr());
    let mut progress = Progress::new(target, visible);
    let ended = Session::measure(order, &mut engine, &mut progress, &mut keeper, stopper)?;
    conclude(ended, keeper, arguments, common)
}

/// Seconds of a figure's launch on average over the catalogue: its process, warm-up and batches (docs/performance.md).
const LAUNCH: f64 = 0.1;
/// A run that takes less than this many seconds needs no announcement.
const LONG: f64 = 60.0;

/// Says beforehand how long a long run will take.
fn foretell(run: &Run) {
    let looks = (run.plan.looks.first().copied().unwrap_or(1), run.plan.looks.last().copied().unwrap_or(1));
    let settled = |figure: &model::Figure| !figure.launches.is_empty() && !figure.has(model::Flag::Unfinished);
    let open = run.figures.iter().filter(|figure| !settled(figure)).count();
    let seconds = |look: u32| open as f64 * f64::from(look) * LAUNCH;
    if seconds(looks.0) < LONG || run.plan.time_limit.is_some_and(|limit| limit < LONG) {
        return;
    }
    let time = report::words::duration;
    let bounded = run.plan.time_limit.map_or_else(
        || "; --time-limit bounds it".to_owned(),
        |limit| format!("; it ends after {} with what is settled by then", time(limit)),
    );
    output::remark(&format!(
        "{open} figures, {} to {} launches each: roughly {} to {}{bounded}; Ctrl-C keeps what was measured, --resume goes on",
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

fn order(arguments: &Arguments, common: &Common) -> Result<Order> {
    let allowed = sys::affinity::allowed()?;
    let identity = measure::identity();
    let command: Vec<String> = std::env::args().collect();
    if let Some(name) = &arguments.resume {
        let found = house::find(std::slice::from_ref(name), common, Detail::Whole)?;
        let run = found.into_iter().next().context("no such run")?.run;
        let mut order = Order::resume(run, &identity, allowed)?.labelled(arguments.label.clone());
        if arguments.time_limit.is_some() {
            order = order.limited_to(arguments.time_limit);
        }
        return Ok(order);
    }
    let plan = plan(arguments)?;
    let directory = PathBuf::from(plan.directory.clone().unwrap_or_default());
    let machine = measure::machine(&[directory]);
    let notes = measure::notes(&machine, &allowed);
    Ok(Order::new(plan, machine, identity, allowed)?.labelled(arguments.label.clone()).asked_by(command).noting(notes))
}

fn plan(arguments: &Arguments) -> Result<Plan> {
    let suite = match (&arguments.suite, arguments.probe.is_empty()) {
        (Some(name), _) => Some(name.as_str()),
        (None, true) => Some("default"),
        (None, false) => None,
    };
    if let Some(label) = &arguments.label {
        store::check_label(label)?;
    }
    let entries = measure::select(suite, &arguments.probe, arguments.target)?;
    let directory = arguments.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let directory = directory.canonicalize().with_context(|| {
        format!("could not find the directory {}; name one that exists with --directory", directory.display())
    })?;
    let limit = suite.and_then(probes::suite).and_then(|suite| suite.seconds);
    Ok(Plan {
        suite: suite.unwrap_or("probes").to_owned(),
        seed: arguments.seed.unwrap_or_else(draw_seed),
        target: arguments.target,
        time_limit: arguments.time_limit.or(limit),
        directory: Some(directory.to_string_lossy().into_owned()),
        entries,
        ..Plan::default()
    })
}

/// A seed that no other run has; written down, so that the run can be repeated.
pub(crate) fn draw_seed() -> u64 {
    // 53 bits: a number that every JSON reader keeps.
    (sys::clock::realtime() ^ u64::from(std::process::id()) << 32) & ((1 << 53) - 1)
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

/// Two runs at once disturb each other: the person is told, and decides.
pub(super) fn claim(purpose: &str) -> Option<MachineLock> {
    match MachineLock::claim(&store::machine_lock_path(), &format!("prony {purpose}")) {
        Ok(Claim::Alone(lock)) => Some(lock),
        Ok(Claim::Taken(holder)) => {
            let who = holder.map_or_else(|| "another process".to_owned(), |holder| holder.to_string());
            output::remark(&format!("warning: another run measures here, {who}; each disturbs the other's figures"));
            None
        }
        // Nobody knows then, which is no reason not to measure.
        Err(_) => None,
    }
}

/// Keeps the run where it was asked for.
struct Keeper {
    store: Option<Box<dyn Store>>,
    output: Option<PathBuf>,
    number: Option<u64>,
}

impl Keeper {
    fn open(arguments: &Arguments, common: &Common) -> Result<Self> {
        let store = if arguments.no_store { None } else { Some(house::write(common)?) };
        Ok(Self { store, output: arguments.output.clone(), number: None })
    }
}

impl Saver for Keeper {
    fn save(&mut self, run: &Run) -> Result<(), String> {
        if let Some(store) = &mut self.store {
            self.number = Some(store.put(run).map_err(|error| error.to_string())?);
        }
        if let Some(path) = &self.output {
            store::save_document(path, run).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

fn conclude(ended: Ended, mut keeper: Keeper, arguments: &Arguments, common: &Common) -> Result<Exit> {
    let Ended { run, ending } = ended;
    let ending = match ending {
        failed @ Ending::NotSaved(_) => failed,
        ending => keeper.save(&run).err().map_or(ending, Ending::NotSaved),
    };
    let saved = !matches!(ending, Ending::NotSaved(_));
    let handle = keeper.number.map(|number| number.to_string());
    let previous = previous(keeper.store.as_deref(), &run);
    let context = RunContext { handle: handle.clone(), previous, stored: saved && handle.is_some() };
    let document = match evaluation::of_suite(&run.plan.suite)? {
        Some(tables) => report::view::in_tables_measured(&run, &tables, &context),
        None => report::view::run(&run, &context),
    };
    output::print(&document, common)?;
    let name = handle.unwrap_or_else(|| run.id.clone());
    match ending {
        Ending::NotSaved(reason) => {
            output::remark(&format!("the run could not be kept: {reason}; what was measured stands above"));
            Ok(Exit::Failed)
        }
        Ending::Stopped => {
            let resume =
                if arguments.no_store { String::new() } else { format!("; go on with: prony run --resume {name}") };
            output::remark(&format!("stopped; what was measured is kept{resume}"));
            Ok(Exit::Stopped)
        }
        Ending::Complete | Ending::TimeLimit if measured(&run) => Ok(Exit::Fine),
        Ending::Complete | Ending::TimeLimit => {
            output::remark("nothing could be measured; the table says why");
            Ok(Exit::Failed)
        }
    }
}

fn measured(run: &Run) -> bool {
    run.figures
        .iter()
        .any(|figure| matches!(figure.outcome, Outcome::Measured(_) | Outcome::Below { .. } | Outcome::Modes(_)))
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
