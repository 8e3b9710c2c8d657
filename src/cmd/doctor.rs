//! `prony doctor`: whether a run may begin now, and what may disturb it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use measure::{Check, Health};
use model::{Run, Topology};
use report::{Block, Cell, Column, Document, DocumentSection, EmbeddedJson, Records, TableRow, Tone};
use serde_json::json;
use store::{Detail, Store};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, progress, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony doctor
  prony doctor --all   every check, not only those that need attention")]
pub(crate) struct Arguments {
    /// Check this directory for measuring files in it
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// Print every check, not only those that need attention
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let spinner = progress::spinner("checking the machine", progress::draws());
    let mut workers = super::run::workers()?;
    let store = run_finder::read(common).ok();
    let earlier = store.as_deref().map(earlier_runs).unwrap_or_default();
    let places = directories(&earlier);
    let checks = measure::doctor(&mut workers, &arguments.directory, &earlier, &places);
    spinner.finish_and_clear();
    output::print(&document(&checks, os::topology::read().ok(), arguments.all), common)
}

/// The answer, then every check that needs attention with its advice, and the machine.
fn document(checks: &[Check], topology: Option<Topology>, all: bool) -> Document {
    let mut document = Document::new(answer(checks));
    let word = |state| match state {
        Health::Fine => "fine",
        Health::Attention => "attention",
        Health::Bad => "bad",
        Health::Unknown => "unknown",
    };
    let is_short = |state| !all && matches!(state, Health::Fine | Health::Unknown);
    let mut rows = Vec::new();
    for check in checks.iter().filter(|check| !is_short(check.state)) {
        let tone = match check.state {
            Health::Fine => Tone::Good,
            Health::Attention => Tone::Caution,
            Health::Bad => Tone::Bad,
            Health::Unknown => Tone::Muted,
        };
        let state = Cell::Text(word(check.state).to_owned(), tone);
        rows.push(TableRow::of(vec![Cell::text(&check.subject), state, Cell::text(&check.says)]));
        if !check.advice.is_empty() {
            rows.push(TableRow::of(vec![Cell::Empty, Cell::Empty, Cell::Text(check.advice.clone(), Tone::Strong)]));
        }
    }
    if !rows.is_empty() {
        document.add("", Block::table(Column::list("||"), rows));
    }
    // A machine has its own part below.
    let named = |state: Health| {
        let of = checks.iter().filter(|check| check.state == state && is_short(state) && check.subject != "machine");
        let subjects: Vec<&str> = of.map(|check| check.subject.as_str()).collect();
        (!subjects.is_empty()).then(|| (word(state).to_owned(), subjects.join(", ")))
    };
    let short: Vec<_> = [Health::Fine, Health::Unknown].into_iter().filter_map(named).collect();
    if !short.is_empty() {
        document.add("", Block::Facts(short));
    }
    let machine = checks.iter().find(|check| check.subject == "machine").filter(|_| !all);
    let mut blocks: Vec<Block> = machine.map(|machine| Block::Text(machine.says.clone())).into_iter().collect();
    blocks.extend(topology.as_ref().map(report::view::topology).unwrap_or_default());
    if !blocks.is_empty() {
        document.sections.push(DocumentSection { title: "The machine".to_owned(), blocks });
    }
    // The remedy comes first; then it is worth a look again.
    let first = if checks.iter().any(Check::blocks) { "prony doctor" } else { "prony run --suite quick" };
    document.next = [first, "prony doctor --all"].map(str::to_owned).to_vec();
    document.next.truncate(if all { 1 } else { 2 });
    let finding = |check: &Check| {
        let mut finding = json!({ "subject": check.subject, "state": word(check.state), "says": check.says });
        if !check.advice.is_empty() {
            finding["advice"] = json!(check.advice);
        }
        finding
    };
    let findings = checks.iter().map(finding).collect();
    document.records = Some(Records::of("subject state says advice", &findings));
    let ok = !checks.iter().any(Check::blocks);
    let mut data = json!({ "title": document.title, "ok": ok, "findings": findings });
    if let Some(topology) = topology {
        data["topology"] = json!(topology);
    }
    document.data = EmbeddedJson::of(&data).ok();
    document
}

/// Whether a run may begin now; if not, the first reason. The table has its remedy.
fn answer(checks: &[Check]) -> String {
    if let Some(check) = checks.iter().find(|check| check.blocks()) {
        // Details stand in the table.
        let says = check.says.split([':', ';']).next().unwrap_or_default();
        return format!("OK to measure: no. {}.", report::words::capital(says));
    }
    match checks.iter().filter(|check| check.state == Health::Attention).count() {
        0 => "OK to measure: yes.".to_owned(),
        1 => "OK to measure: yes, with one thing to know.".to_owned(),
        many => format!("OK to measure: yes, with {many} things to know."),
    }
}

/// Stored runs that are read, newest first, and the time in which as many as possible are.
const RUNS: usize = 50;
const PATIENCE: Duration = Duration::from_secs(1);

/// The newest stored runs of Prony. The commands that need a store say why it cannot be read.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(subject: &str, state: Health, passing: bool) -> Check {
        let says =
            if subject == "machine" { "a machine" } else { "other processes use 50% of the 2 CPUs: cc (7) 1.00" };
        let advice = if state == Health::Attention { "Stop them." } else { "" };
        Check { subject: subject.to_owned(), state, says: says.to_owned(), advice: advice.to_owned(), passing }
    }

    fn printed(checks: &[Check], all: bool) -> String {
        String::from_utf8(output::rendered(&document(checks, None, all), "terminal").unwrap_or_default())
            .unwrap_or_default()
    }

    #[test]
    fn the_answer_comes_first_and_what_is_fine_is_one_line() {
        let mut checks = ["machine", "CPUs", "CPU quota"].map(|subject| check(subject, Health::Fine, false)).to_vec();
        checks.push(check("boost", Health::Unknown, false));
        assert!(printed(&checks, false).starts_with("OK to measure: yes.\n"));
        checks.push(check("virtual machine", Health::Attention, false));
        assert!(printed(&checks, false).starts_with("OK to measure: yes, with one thing to know.\n"));
        checks.push(check("other processes", Health::Attention, true));
        let said = printed(&checks, false);
        let answer = "OK to measure: no. Other processes use 50% of the 2 CPUs.\n";
        assert!(said.starts_with(answer), "{said}");
        let lines: Vec<&str> = said.lines().map(str::trim).collect();
        assert!(lines.contains(&"fine     CPUs, CPU quota") && lines.contains(&"unknown  boost"), "{said}");
        let every = printed(&checks, true);
        assert!(every.lines().filter(|line| line.contains("fine ")).count() == 3, "{every}");
    }
}
