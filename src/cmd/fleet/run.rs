//! `prony fleet run`: the suite on every node.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use clap::Args;
use launcher::suite::{Heard, Measured, NodeState, SuiteOrder, gather};
use model::Run;
use store::Store;

use super::super::check;
use super::super::node_options::{ChosenNodes, NodeOptions, refuse_twice};
use super::super::rating;
use super::super::session::watch_for_signals;
use super::OutlierGate;
use super::report::FleetReport;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::progress::spinner;
use crate::run_options::{ResultSelection, RoundOptions};
use crate::{output, run_finder};

#[derive(Debug, Args)]
#[command(mut_arg("benchmark", |option| option.help_heading("Sampling")), after_help = "Examples:
  prony fleet run --launcher ssh --hosts a,b,c --suite quick
  prony fleet run --launcher slurm --nodes 4

Exit codes: as of every command; 2 if a node is missing (the runs of the others are kept).")]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: ResultSelection,
    #[command(flatten)]
    rounds: RoundOptions,
    /// Give the runs this name, with each node's name added
    #[arg(long, help_heading = "Nodes", value_name = "NAME")]
    label: Option<String>,
    /// Measure files in this directory of the nodes [default: where their agents start]
    #[arg(long, help_heading = "Nodes", value_name = "DIR")]
    directory: Option<String>,
    #[command(flatten)]
    gate: OutlierGate,
    /// Print no progress
    #[arg(long, help_heading = "Output", short)]
    quiet: bool,
    #[command(flatten)]
    place: NodeOptions,
    /// Use this many nodes [default: all hosts, all of Slurm's partition, one local]
    #[arg(long, short = 'N', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    nodes: Option<u32>,
    /// Measure on this many nodes at the same time [default: all; local: 1]
    #[arg(long, help_heading = "Nodes", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    parallel: Option<u32>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let template = order(arguments)?;
    let counts = (arguments.nodes, arguments.parallel);
    let gathered = measure_nodes(&arguments.place, counts, &template, arguments.quiet, common)?;
    let GatheredNodes { all, numbers, trouble, stopped } = gathered;
    if arguments.selection.suite() == Some(check::SUITE) {
        return check::conclude_nodes(all, trouble.as_deref(), stopped, common);
    }
    let report = FleetReport::of(&arguments.place.by.launcher, all, &numbers, &|runs: &[&Run]| {
        run_finder::history(runs, common)
    })?;
    output::print(&report.document(), common)?;
    if let Some(trouble) = trouble {
        output::remark(&format!("some runs could not be kept: {trouble}"));
        return Ok(ExitStatus::Failed);
    }
    Ok(exit(&report, stopped, arguments.gate.asked()))
}

/// What came from all nodes.
pub(crate) struct GatheredNodes {
    /// Every node with its run, or the reason why it has none.
    pub(crate) all: Vec<Measured>,
    /// Numbers of the runs in the store, by their ids.
    pub(crate) numbers: BTreeMap<String, u64>,
    /// Why a run could not be kept.
    pub(crate) trouble: Option<String>,
    /// Whether the user requested a stop.
    pub(crate) stopped: bool,
}

/// Measures on every node and keeps the runs. `counts` are the nodes, and those that measure at the same time.
pub(crate) fn measure_nodes(
    place: &NodeOptions,
    (nodes, parallel): (Option<u32>, Option<u32>),
    template: &SuiteOrder,
    quiet: bool,
    common: &CommonOptions,
) -> Result<GatheredNodes> {
    if place.by.launcher == "ssh" {
        refuse_twice(&place.by.hosts)?;
    }
    let stopper = watch_for_signals()?;
    let mut saver = RunKeeper::open(common)?;
    let ChosenNodes { mut launcher, count, missing } = place.choose(nodes.map(|n| n as usize), false)?;
    let local = place.by.launcher == "local";
    let at_once = parallel.map_or(if local { 1 } else { count }, |n| n as usize);
    let asked = count + missing.len();
    let order = |node: &str| SuiteOrder {
        label: template.label.as_ref().map(|label| format!("{label} {node}")),
        note: format!("{node} of a fleet of {asked} by {}, {at_once} at once", place.by.launcher),
        ..template.clone()
    };
    let visible = !quiet && crate::progress::draws();
    let line = spinner(&format!("starting {count} nodes"), visible);
    let mut doing = Doing { count, ..Doing::default() };
    let mut hear = |heard: Heard<'_>| {
        match heard {
            Heard::Here(_) => {}
            Heard::Doing { node, done, of, what } => doing.works(node, format!("{node} {done}/{of} {what}")),
            Heard::Silent { node, seconds, lost_at } => {
                let first = doing.is_silent(node, seconds);
                if first && !visible && !quiet {
                    output::remark(&format!("{node} sends nothing any more; after {lost_at} s it is lost"));
                }
            }
            Heard::Saved { run, .. } => saver.save(run),
            Heard::Over { node, .. } => doing.ended(node),
        }
        line.set_message(doing.message());
    };
    let measured = gather(launcher.as_mut(), count, at_once, &order, &stopper, &mut hear)?;
    line.finish_and_clear();
    let lost = |missing: launcher::agent::MissingNode| Measured {
        node: missing.node,
        state: NodeState::Missing(missing.reason),
        run: None,
    };
    let all: Vec<Measured> = measured.into_iter().chain(missing.into_iter().map(lost)).collect();
    Ok(GatheredNodes { all, numbers: saver.numbers, trouble: saver.trouble, stopped: stopper.asked() })
}

/// What nodes do, for the line of progress.
#[derive(Default)]
struct Doing {
    count: usize,
    working: BTreeMap<String, String>,
    silent: BTreeMap<String, u64>,
}

impl Doing {
    fn works(&mut self, node: &str, what: String) {
        self.silent.remove(node);
        self.working.insert(node.to_owned(), what);
    }

    /// Whether it had not been silent before.
    fn is_silent(&mut self, node: &str, seconds: u64) -> bool {
        self.silent.insert(node.to_owned(), seconds).is_none()
    }

    fn ended(&mut self, node: &str) {
        self.silent.remove(node);
        self.working.remove(node);
    }

    /// Silent nodes come first: they are what the user may want to look at.
    fn message(&self) -> String {
        if self.working.is_empty() && self.silent.is_empty() {
            return format!("starting {} nodes", self.count);
        }
        let silent = self.silent.iter().map(|(node, seconds)| format!("{node} silent for {seconds} s"));
        let working = self.working.iter().filter(|(node, _)| !self.silent.contains_key(*node));
        let some: Vec<String> = silent.chain(working.map(|(_, what)| what.clone())).take(3).collect();
        format!("{} of {} nodes measure: {}", self.working.len(), self.count, some.join("   "))
    }
}

fn exit(report: &FleetReport, stopped: bool, fail_on_odd: bool) -> ExitStatus {
    let absent = report.nodes.iter().filter(|node| !node.is_whole()).count();
    if stopped {
        output::remark("stopped; what came is kept");
        return ExitStatus::Stopped;
    }
    if absent > 0 {
        output::remark(&format!(
            "{absent} of {} nodes did not measure to the end; the table says why",
            report.nodes.len()
        ));
        return ExitStatus::Failed;
    }
    if let Some(status) = report.outlier().filter(|_| fail_on_odd) {
        return status;
    }
    ExitStatus::Fine
}

fn order(arguments: &Arguments) -> Result<SuiteOrder> {
    if let Some(label) = &arguments.label {
        store::check_label(label)?;
    }
    let selection = &arguments.selection;
    // Options that are invalid here are invalid on every node.
    let rounds = &arguments.rounds;
    if let Some(suite) = selection.suite().filter(|suite| rating::is_suite(suite)) {
        bail!("a fleet measures results of the catalogue; rate each machine with: prony run --suite {suite}");
    }
    selection.entries(rounds.target())?;
    Ok(SuiteOrder {
        suite: selection.suite().map(str::to_owned),
        benchmarks: selection.benchmark.clone(),
        target: rounds.target(),
        time_limit: selection.limit(rounds.time_limit),
        seed: rounds.seed(),
        label: arguments.label.clone(),
        directory: arguments.directory.clone(),
        command: model::presentable(model::command_line()),
        note: String::new(),
    })
}

/// Keeps runs as they arrive.
struct RunKeeper {
    store: Box<dyn Store>,
    numbers: BTreeMap<String, u64>,
    trouble: Option<String>,
}

impl RunKeeper {
    fn open(common: &CommonOptions) -> Result<Self> {
        Ok(Self { store: run_finder::write(common)?, numbers: BTreeMap::new(), trouble: None })
    }

    fn save(&mut self, run: &Run) {
        match self.store.put(run) {
            Ok(number) => drop(self.numbers.insert(run.id.clone(), number)),
            Err(error) => self.trouble = Some(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Doing;

    #[test]
    fn silent_nodes_come_first_until_they_say_something() {
        let mut doing = Doing { count: 4, ..Doing::default() };
        assert_eq!(doing.message(), "starting 4 nodes");
        for node in ["a", "b", "c", "d"] {
            doing.works(node, format!("{node} 1/2 x"));
        }
        assert!(doing.is_silent("d", 15) && !doing.is_silent("d", 16));
        assert_eq!(doing.message(), "4 of 4 nodes measure: d silent for 16 s   a 1/2 x   b 1/2 x");
        doing.works("d", "d 2/2 y".to_owned());
        doing.ended("a");
        assert_eq!(doing.message(), "3 of 4 nodes measure: b 1/2 x   c 1/2 x   d 2/2 y");
    }
}
