//! `prony check`: whether machines are as fast as they should be.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use check::{CheckContext, FleetCheck, check_fleet};
use clap::Args;
use launcher::suite::{Measured, NodeState, SuiteOrder};
use measure::RunRequest;
use model::{Plan, Run};
use store::Detail;

use super::fleet::run::{GatheredNodes, measure_nodes};
use super::node_options::NodeOptions;
use super::run::workers;
use super::session::{LocalSession, measured};
use crate::cli::CommonOptions;
use crate::run_options::{MeasureOptions, RoundOptions, draw_seed};
use crate::run_saver::SaveOptions;
use crate::value_parsers::seconds;
use crate::{ExitStatus, output, reference, run_finder, share};

/// The suite that it measures.
pub(crate) const SUITE: &str = "check";

/// Stored runs that are looked into for equal machines.
const STORED: usize = 200;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony check                this machine, in a minute
  prony check n1 n2 n3       these hosts, by ssh, against each other
  prony check --run latest   a stored run

Exit codes: 0 nothing is low, 1 something is low, 2 an error or a missing node, 3 nothing could be said.")]
pub(crate) struct Arguments {
    /// Check these hosts by ssh [default: this machine]
    #[arg(value_name = "NODE")]
    hosts_to_check: Vec<String>,
    /// Check stored runs or files; repeatable
    #[arg(long, value_name = "RUN", conflicts_with_all = ["hosts_to_check", "nodes"])]
    run: Vec<String>,
    /// Stop after this time, such as 90s or 5m [default: the suite's or none]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    time_limit: Option<f64>,
    /// Measure files in this directory [default: the current one]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    directory: Option<PathBuf>,
    /// Add the run, without identifying data, to this folder of reference runs
    #[arg(long, value_name = "DIR", help_heading = "Saving", conflicts_with_all = ["hosts_to_check", "nodes"])]
    add_reference: Option<PathBuf>,
    /// Use this many nodes [default: all hosts, all of Slurm's partition, one local]
    #[arg(long, short = 'N', value_name = "N", help_heading = "Nodes", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    nodes: Option<u32>,
    /// Measure on this many nodes at the same time [default: all; local: 1]
    #[arg(long, help_heading = "Nodes", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    parallel: Option<u32>,
    #[command(flatten)]
    place: NodeOptions,
    /// Print no progress
    #[arg(long, help_heading = "Output", short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    if !arguments.run.is_empty() {
        return stored(arguments, common);
    }
    let mut place = arguments.place.clone();
    if !arguments.hosts_to_check.is_empty() {
        ensure!(place.by.hosts.is_empty(), "name the hosts once: before the options, or with --hosts");
        place.by.hosts.clone_from(&arguments.hosts_to_check);
        if place.by.launcher == "local" {
            place.by.launcher = "ssh".to_owned();
        }
    }
    if place.by.launcher == "local" && arguments.nodes.is_none() {
        return here(arguments, common);
    }
    let directory = arguments.directory.as_ref().map(|path| path.display().to_string());
    let order = order(arguments.time_limit, directory);
    let counts = (arguments.nodes, arguments.parallel);
    let GatheredNodes { all, trouble, stopped, .. } = measure_nodes(&place, counts, &order, arguments.quiet, common)?;
    conclude_nodes(all, trouble.as_deref(), stopped, common)
}

/// The seconds of the suite.
fn limit() -> Option<f64> {
    benchmarks::suite(SUITE).map(|suite| suite.seconds)
}

fn order(time_limit: Option<f64>, directory: Option<String>) -> SuiteOrder {
    SuiteOrder {
        suite: Some(SUITE.to_owned()),
        benchmarks: Vec::new(),
        target: 0.02,
        time_limit: time_limit.or_else(limit),
        seed: draw_seed(),
        label: None,
        directory,
        command: model::presentable(model::command_line()),
        note: String::new(),
    }
}

/// Measures this machine and checks it.
fn here(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let saving = SaveOptions::default();
    let rounds = RoundOptions { target: None, time_limit: arguments.time_limit, seed: None };
    let options =
        MeasureOptions { rounds, max_samples: None, push: None, resume: None, saving, quiet: arguments.quiet };
    let mut session = LocalSession::open("check", &options, common)?.needing_intervals();
    let directory = arguments.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let directory =
        directory.canonicalize().with_context(|| format!("could not find the directory {}", directory.display()))?;
    let allowed = kernels::affinity::allowed()?;
    let machine = measure::machine(std::slice::from_ref(&directory));
    let notes = measure::notes(&machine, &allowed);
    let plan = Plan {
        suite: SUITE.to_owned(),
        seed: options.rounds.seed(),
        target: options.rounds.target(),
        time_limit: arguments.time_limit.or_else(limit),
        sensors: true,
        directory: Some(directory.to_string_lossy().into_owned()),
        entries: measure::select(Some(SUITE), &[], options.rounds.target())?,
        ..Plan::default()
    };
    let request = RunRequest::new(plan, machine, measure::identity(), allowed)?.noting(notes);
    let order = session.begin(request);
    let result = session.measure(order, &mut workers()?)?;
    let added = arguments.add_reference.as_deref().map(|folder| share::write_reference(&result.run, folder));
    let mut verdict = ExitStatus::Inconclusive;
    let draw = |run: &Run, _: &report::view::RunContext| {
        let found = judged(&[run], std::slice::from_ref(&run.machine.name), common)?;
        verdict = exit(&found);
        Ok(report::view::check(&found))
    };
    let status = session.conclude(result, draw, measured)?;
    if let Some(path) = added.transpose()? {
        output::remark(&format!("added {}", path.display()));
    }
    // A stopped run is judged by what it has, and still was stopped.
    Ok(if status == ExitStatus::Fine { verdict } else { status })
}

/// Checks runs that are there already.
fn stored(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let named = run_finder::find(&arguments.run, common, Detail::Values)?;
    let runs: Vec<&Run> = named.iter().map(|one| &one.run).collect();
    if let Some(folder) = &arguments.add_reference {
        for run in &runs {
            output::remark(&format!("added {}", share::write_reference(run, folder)?.display()));
        }
    }
    let name = |one: &run_finder::Named| match one.run.machine.name.as_str() {
        "" => one.handle.clone(),
        name if runs.iter().filter(|run| run.machine.name == name).count() > 1 => format!("{name} {}", one.handle),
        name => name.to_owned(),
    };
    let names: Vec<String> = named.iter().map(name).collect();
    let found = judged(&runs, &names, common)?;
    output::print(&report::view::check(&found), common)?;
    Ok(exit(&found))
}

/// Checks what came from nodes, and says which are missing.
pub(crate) fn conclude_nodes(
    all: Vec<Measured>,
    trouble: Option<&str>,
    stopped: bool,
    common: &CommonOptions,
) -> Result<ExitStatus> {
    let count = all.len();
    let (mut names, mut runs, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for node in all {
        match (node.run, node.state) {
            (Some(run), _) if measured(&run) => {
                names.push(node.node);
                runs.push(run);
            }
            (_, NodeState::Missing(why) | NodeState::Lost(why)) => missing.push(format!("{}: {why}", node.node)),
            _ => missing.push(format!("{}: no result could be measured", node.node)),
        }
    }
    let found = judged(&runs.iter().collect::<Vec<_>>(), &names, common)?;
    output::print(&report::view::check(&found), common)?;
    missing.iter().for_each(|one| output::remark(&format!("missing: {one}")));
    if let Some(trouble) = trouble {
        output::remark(&format!("some runs could not be kept: {trouble}"));
    }
    Ok(match () {
        () if stopped => ExitStatus::Stopped,
        () if runs.len() < count || trouble.is_some() => ExitStatus::Failed,
        () => exit(&found),
    })
}

/// Judges runs against each other, or one run against the reference population and the store.
fn judged(runs: &[&Run], names: &[String], common: &CommonOptions) -> Result<FleetCheck> {
    let own = runs.first().map(|run| run.machine.fingerprint.as_str()).unwrap_or_default();
    let (mut elsewhere, mut past) = (reference::runs(), Vec::new());
    if let [run] = runs {
        let store = run_finder::read(common)?;
        let summaries = store.summaries()?;
        let others = summaries.iter().rev().filter(|one| one.tool.is_none() && one.id != run.id).take(STORED);
        for other in others.filter_map(|one| store.get(&one.id, Detail::Values).ok()) {
            if other.machine.fingerprint == own { past.push(other) } else { elsewhere.push(other) }
        }
    }
    // One run stands for a machine: the newest.
    let mut seen = std::collections::BTreeSet::from([own.to_owned()]);
    elsewhere.reverse();
    elsewhere.retain(|other| seen.insert(other.machine.fingerprint.clone()));
    let (elsewhere, past): (Vec<&Run>, Vec<&Run>) = (elsewhere.iter().collect(), past.iter().collect());
    let context = CheckContext {
        catalogue: benchmarks::catalogue(),
        elsewhere: &elsewhere,
        past: &past,
        public: reference::table(),
        label: report::words::label,
    };
    Ok(check_fleet(runs, names, &context))
}

fn exit(found: &FleetCheck) -> ExitStatus {
    match () {
        () if found.is_low() => ExitStatus::Found,
        () if found.says_anything() => ExitStatus::Fine,
        () => ExitStatus::Inconclusive,
    }
}
