//! `prony compare`: runs side by side.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use compare::{CompareGate, CompareOptions, Compared, Comparison, FailOn, Normalise, compare};
use model::{GateAnswer, ResultKey, Run};
use report::view::CompareContext;
use store::Detail;

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::junit::JunitCase;
use crate::run_finder::Named;
use crate::value_parsers::{percent, price};
use crate::{output, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony compare    the latest run with the previous one
  prony compare base new --fail-on slower:5
  prony compare published:babar-cpu-1998 latest")]
pub(crate) struct Arguments {
    /// Runs, the baseline first: numbers, labels, files, published:NAME [default: previous latest]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Use only results that match, such as 'os.*,ipc.*'
    #[arg(long, value_name = "GLOB")]
    results: Option<String>,
    /// Print ratios to the baseline, as published tables do, instead of speed-ups
    #[arg(long, help_heading = "Table")]
    ratio: bool,
    /// Sort by a result (best machine first) or by a machine (worst result first)
    #[arg(long, help_heading = "Table", value_name = "NAME")]
    sort: Option<String>,
    /// Compare results that differ only in these parameters, such as placement
    #[arg(long, help_heading = "Table", value_name = "AXIS", value_delimiter = ',')]
    across: Vec<String>,
    /// Print every result, not only those that differ
    #[arg(long)]
    all: bool,
    /// Treat differences below this percentage as no change; half of it in cycles
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = percent)]
    margin: f64,
    /// Compare performance per price; repeat for each run, such as B=0.59/h
    #[arg(long, value_name = "RUN=AMOUNT", value_parser = price, conflicts_with = "ratio")]
    price: Vec<(String, f64, String)>,
    /// Exit with 1 for slower, slower:5 (%) or different, with 3 if inconclusive
    #[arg(long, value_name = "CONDITION")]
    fail_on: Option<FailOn>,
    /// Exit with 0 (pass) or 1 (fail) if --fail-on is inconclusive [default: exit with 3]
    #[arg(long, help_heading = "Verdicts", value_name = "ANSWER", requires = "fail_on")]
    inconclusive: Option<Inconclusive>,
    /// Write the answer of the gate to this file as JUnit
    #[arg(long, help_heading = "Verdicts", value_name = "FILE", requires = "fail_on")]
    junit: Option<PathBuf>,
}

/// Result of a condition that is inconclusive.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Inconclusive {
    Pass,
    Fail,
}

const fn exit(answer: GateAnswer, otherwise: Option<Inconclusive>) -> ExitStatus {
    match (answer, otherwise) {
        (GateAnswer::Pass, _) | (GateAnswer::Inconclusive, Some(Inconclusive::Pass)) => ExitStatus::Fine,
        (GateAnswer::Fail, _) | (GateAnswer::Inconclusive, Some(Inconclusive::Fail)) => ExitStatus::Found,
        (GateAnswer::Inconclusive, None) => ExitStatus::Inconclusive,
    }
}

/// The prices of a comparison's machines, in its order.
pub(super) fn prices(comparison: &Comparison, named: &[Named], given: &[(String, f64, String)]) -> Result<Vec<f64>> {
    let span = &given[0].2;
    if let Some((name, _, other)) = given.iter().find(|(.., other)| other != span) {
        anyhow::bail!("the prices are for different times, '{span}' and '{other}' of {name}; give all for the same");
    }
    let means = |name: &str, run: &Named| {
        let file = Path::new(&run.handle).file_name().map(|name| name.to_string_lossy().into_owned());
        let file = file.as_deref().map(|file| file.trim_end_matches(".json").trim_end_matches(".prony"));
        run.handle == name
            || run.run.label.as_deref() == Some(name)
            || run.run.machine.name == name
            || file == Some(name)
    };
    for (name, ..) in given {
        let called = |run: &Named| run.run.label.clone().unwrap_or_else(|| run.handle.clone());
        let known = || named.iter().map(called).collect::<Vec<_>>().join(", ");
        anyhow::ensure!(
            named.iter().filter(|run| means(name, run)).count() == 1,
            "the price of {name} fits no run, or several; the runs are {}",
            known()
        );
    }
    let price = |machine: &Compared| {
        let run = named.iter().find(|run| run.run.id == machine.run).context("a run of the comparison is missing")?;
        let price = given.iter().find(|(name, ..)| means(name, run)).map(|(_, amount, _)| *amount);
        let name = run.run.label.as_ref().unwrap_or(&run.handle);
        price.with_context(|| format!("{name} has no price; give one with --price {name}=AMOUNT"))
    };
    comparison.machines.iter().map(price).collect()
}

/// Time of one sample of each result, as its plan expects it: of the slower of two runs.
fn seconds(runs: &[&Run]) -> HashMap<ResultKey, f64> {
    let mut seconds: HashMap<ResultKey, f64> = HashMap::new();
    for run in runs.iter().filter(|run| run.origin.is_none()) {
        let cpus = run.session.conditions.cpus.map_or(1, |cpus| cpus as usize);
        for entry in &run.plan.entries {
            let known = seconds.entry(ResultKey::new(entry.benchmark.clone(), entry.parameters.clone())).or_default();
            *known = known.max(measure::expected_seconds(entry, cpus));
        }
    }
    seconds
}

/// Every result of several runs side by side, the baseline first.
pub(crate) fn side_by_side(store: &dyn store::Store, named: &[Named]) -> Result<report::Document> {
    let runs: Vec<&Run> = named.iter().map(|named| &named.run).collect();
    let history = run_finder::history_in(store, &runs)?;
    let handles: Vec<String> = named.iter().map(|named| named.handle.clone()).collect();
    let options = CompareOptions { handles: handles.clone(), history: &history, ..CompareOptions::default() };
    let comparison = compare(&runs, &options)?;
    Ok(report::view::compare(&comparison, &CompareContext { handles, brief: false, seconds: seconds(&runs) }))
}

/// The answer of a gate for a CI system: one case for the whole, and one for each result that fails or is open.
fn junit(gate: &CompareGate, comparison: &Comparison) -> Vec<JunitCase> {
    let class = || "prony.compare".to_owned();
    let text = report::view::gate_sentence(comparison, gate);
    let mut cases = vec![JunitCase { class: class(), name: "gate".to_owned(), answer: gate.answer, text }];
    for (results, answer) in [(&gate.failing, GateAnswer::Fail), (&gate.open, GateAnswer::Inconclusive)] {
        cases.extend(results.iter().map(|result| JunitCase {
            class: class(),
            name: format!("{} of {}", result.result, result.machine),
            answer,
            text: result.reason.clone().unwrap_or_else(|| match (result.gain, result.low.zip(result.high)) {
                (Some(gain), Some((low, high))) => format!("speed-up {gain:.4} ({low:.4} to {high:.4})"),
                _ => "in modes".to_owned(),
            }),
        }));
    }
    cases
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let names = run_finder::names_or_latest(&arguments.runs, ["previous", "latest"]);
    let named = run_finder::find(&names, common, Detail::Values)?;
    let runs: Vec<&Run> = named.iter().map(|named| &named.run).collect();
    anyhow::ensure!(runs.len() > 1, "{} stands for one run; name at least two", names.join(" "));
    if let ([], [baseline, other]) = (arguments.runs.as_slice(), named.as_slice()) {
        run_finder::say_which(&baseline.handle, &other.handle);
    }
    let history = run_finder::history(&runs, common)?;
    let options = CompareOptions {
        results: arguments.results.clone(),
        across: arguments.across.clone(),
        normalise: if arguments.ratio { Normalise::Ratio } else { Normalise::Gain },
        handles: named.iter().map(|named| named.handle.clone()).collect(),
        sort_by: arguments.sort.clone(),
        band: arguments.margin,
        history: &history,
        ..CompareOptions::default()
    };
    let mut comparison = match compare(&runs, &options) {
        Err(nothing @ compare::Error::NothingInCommon { .. }) if arguments.fail_on.is_some() => {
            output::remark(&format!("nothing could be tested: {nothing}"));
            return Ok(exit(GateAnswer::Inconclusive, arguments.inconclusive));
        }
        other => other?,
    };
    if !arguments.price.is_empty() {
        let prices = prices(&comparison, &named, &arguments.price)?;
        comparison.set_prices(&prices);
        anyhow::ensure!(
            !comparison.per_price.is_empty(),
            "could not compute performance per price: the runs have no result in common"
        );
    }
    comparison.gate = arguments.fail_on.map(|condition| condition.gate(&comparison));
    // Sorting changes the order of the machines.
    let handle = |id: &str| named.iter().find(|named| named.run.id == id).map(|named| named.handle.clone());
    let handles = comparison.machines.iter().filter_map(|machine| handle(&machine.run)).collect();
    // Who sorts, or wants the numbers of a printed table, wants all rows.
    let whole = arguments.all || arguments.ratio || arguments.sort.is_some();
    let context = CompareContext { handles, brief: !whole, seconds: seconds(&runs) };
    let mut document = report::view::compare(&comparison, &context);
    // Runs that share a file have no names of their own on a command line.
    let typed = |run: &Named| names.contains(&run.handle) || run_finder::names_one(&run.handle);
    if !named.iter().all(typed) {
        let again = format!("prony compare {} --all", names.join(" "));
        document.next = if context.brief { vec![again] } else { Vec::new() };
    }
    document.summary.extend(super::printed::disagreements(&comparison, &runs)?);
    output::print(&document, common)?;
    if let (Some(path), Some(gate)) = (&arguments.junit, &comparison.gate) {
        crate::junit::write(path, &junit(gate, &comparison))?;
    }
    Ok(comparison.gate.map_or(ExitStatus::Fine, |gate| exit(gate.answer, arguments.inconclusive)))
}
