//! `prony doctor`: what may disturb measuring here.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use model::Run;
use report::view::{CheckFinding, FindingState, Findings};
use store::{Detail, Store};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, progress, run_finder};

/// Options of `prony doctor`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony doctor")]
pub(crate) struct Arguments {
    /// Directory in which files would be measured
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let spinner = progress::spinner("looking around", progress::draws());
    let mut engine = super::run::engine()?;
    let store = run_finder::read(common).ok();
    let earlier = store.as_deref().map(earlier_runs).unwrap_or_default();
    let places = directories(&earlier);
    let checks = measure::doctor(&mut engine, &arguments.directory, &earlier, &places);
    spinner.finish_and_clear();
    let findings: Vec<CheckFinding> = checks
        .into_iter()
        .map(|check| CheckFinding {
            subject: check.subject,
            state: match check.state {
                measure::Health::Fine => FindingState::Fine,
                measure::Health::Attention => FindingState::Attention,
                measure::Health::Bad => FindingState::Bad,
                measure::Health::Unknown => FindingState::Unknown,
            },
            says: check.says,
            advice: check.advice,
        })
        .collect();
    let disturbing =
        findings.iter().filter(|finding| matches!(finding.state, FindingState::Attention | FindingState::Bad)).count();
    let summary = match disturbing {
        0 => "Nothing was found that would disturb measuring here.".to_owned(),
        1 => "One thing may disturb measuring here.".to_owned(),
        many => format!("{many} things may disturb measuring here."),
    };
    let found = Findings {
        title: "What may disturb measuring here".to_owned(),
        findings,
        topology: sys::topology::read().ok(),
        summary: vec![summary],
        next: vec!["prony run --suite quick".to_owned(), "prony selftest".to_owned()],
    };
    output::print(&report::view::findings(&found), common)?;
    Ok(ExitStatus::Fine)
}

/// Stored runs that are read, newest first, and the time in which as many as possible are.
const RUNS: usize = 50;
const PATIENCE: Duration = Duration::from_secs(1);

/// The newest stored runs of Prony. The verbs that need a store say why it cannot be read.
fn earlier_runs(store: &dyn Store) -> Vec<Run> {
    let stored = store.summaries().unwrap_or_default();
    let began = Instant::now();
    let newest = stored.iter().rev().filter(|summary| summary.tool.is_none()).take(RUNS);
    let newest = newest.take_while(|_| began.elapsed() < PATIENCE);
    newest.filter_map(|summary| store.get(&summary.id, Detail::Values).ok()).collect()
}

/// Directories in which these runs measured.
fn directories(runs: &[Run]) -> Vec<PathBuf> {
    let measured = runs.iter().flat_map(|Run { plan, .. }| plan.directory.iter().chain(&plan.more_directories));
    measured.map(PathBuf::from).collect()
}
