//! `prony fleet spread`: runs of machines that should be equal.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use clap::Args;
use compare::SessionRecord;
use launcher::suite::{Measured, NodeEnd, NodeState};
use model::Run;
use report::Document;
use store::Detail;

use super::OutlierGate;
use super::report::FleetReport;
use crate::cli::CommonOptions;
use crate::run_finder::Named;
use crate::{ExitStatus, output, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony fleet spread 1 2 3
  prony fleet spread ./prony-JOB-*.json --fail-on outlier")]
pub(crate) struct Arguments {
    /// Runs: numbers, labels, files, folders
    #[arg(required = true, num_args = 1.., value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    gate: OutlierGate,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let named = run_finder::find(&arguments.runs, common, Detail::Values)?;
    ensure!(named.len() > 1, "{} stands for one run; name at least two", arguments.runs.join(" "));
    let report = report(named, &|runs: &[&Run]| run_finder::history(runs, common))?;
    output::print(&report.document(), common)?;
    Ok(report.outlier().filter(|_| arguments.gate.asked()).unwrap_or(ExitStatus::Fine))
}

/// The spread of stored runs as a document.
pub(crate) fn spread_of(
    named: Vec<Named>,
    history: &dyn Fn(&[&Run]) -> Result<Vec<SessionRecord>>,
) -> Result<Document> {
    Ok(report(named, history)?.document())
}

fn report(named: Vec<Named>, history: &dyn Fn(&[&Run]) -> Result<Vec<SessionRecord>>) -> Result<FleetReport> {
    let mut numbers = BTreeMap::new();
    let mut all: Vec<Measured> = Vec::new();
    for one in named {
        if let Ok(number) = one.handle.parse() {
            numbers.insert(one.run.id.clone(), number);
        }
        let host = one.run.machine.name.clone();
        let taken = all.iter().any(|other| other.node == host);
        let node = if host.is_empty() || taken { format!("{host} {}", one.handle).trim().to_owned() } else { host };
        let ending = match one.run.ended_by_limit() {
            true => NodeEnd::TimeLimit,
            false if one.run.interrupted() => NodeEnd::Stopped,
            false => NodeEnd::Complete,
        };
        all.push(Measured { node, state: NodeState::Measured(ending), run: Some(one.run) });
    }
    FleetReport::of("stored runs", all, &numbers, history)
}
