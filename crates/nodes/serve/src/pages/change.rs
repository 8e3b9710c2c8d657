//! Where the values of one result changed, and what changed with them: from what the store lists, without its documents.

use history::History;
use model::{BenchmarkResult, FactValue, Outcome, Run, Session};
use report::Block;
use report::view::HistoryContext;
use serde_json::{Value, json};
use store::{EnvironmentChange, SessionValue};

use super::history::moment;

/// Sessions that are searched, the newest ones.
const SEARCHED: usize = 400;

/// The changes of the values of a result as `prony history` says them, and as data.
pub(super) fn found(
    newest: &Run,
    result: &BenchmarkResult,
    values: &[SessionValue],
    changes: &[EnvironmentChange],
) -> (Vec<Block>, Value) {
    let searched = &values[values.len().saturating_sub(SEARCHED)..];
    let runs = sessions(newest, result, searched, changes);
    let named: Vec<(String, &Run)> =
        searched.iter().zip(&runs).map(|(value, run)| (value.number.to_string(), run)).collect();
    let found = history::history(&named);
    let mut sections = report::view::history(&found, &HistoryContext::default()).sections;
    let mut said = if sections.is_empty() { Vec::new() } else { sections.remove(0).blocks };
    if searched.len() < values.len() {
        said.push(Block::Text(format!("Searched: the newest {SEARCHED} sessions.")));
    }
    let data = events(&found, searched);
    (said, data)
}

/// The sessions as runs with this result alone, on the machine as it was.
fn sessions(
    newest: &Run,
    result: &BenchmarkResult,
    values: &[SessionValue],
    changes: &[EnvironmentChange],
) -> Vec<Run> {
    let Some((estimate, last)) = result.outcome.estimate().copied().zip(values.last()) else { return Vec::new() };
    let time = |started: &str, number: u64| (moment(started), number);
    let is_after = |change: &EnvironmentChange, value: &SessionValue| {
        time(&change.started, change.number) > time(&value.started, value.number)
    };
    let mut later: Vec<&EnvironmentChange> = changes.iter().filter(|change| !is_after(change, last)).collect();
    let mut run = newest.clone();
    run.session = Session { version: newest.session.version.clone(), ..Session::default() };
    run.results = vec![BenchmarkResult { samples: Vec::new(), notes: Vec::new(), ..result.clone() }];
    let mut runs = Vec::with_capacity(values.len());
    for value in values.iter().rev() {
        while let Some(change) = later.pop_if(|change| is_after(change, value)) {
            change.facts.iter().for_each(|(name, before, _)| restore(&mut run, name, before));
        }
        run.session.started.clone_from(&value.started);
        let (low, high) = (value.low, value.high);
        run.results[0].outcome = Outcome::Measured(model::Estimate { value: value.value, low, high, ..estimate });
        runs.push(run.clone());
    }
    runs.reverse();
    runs
}

/// Gives a fact, a rule or the version of Prony the value that it had.
fn restore(run: &mut Run, name: &str, before: &str) {
    if name == "prony.version" {
        before.clone_into(&mut run.session.version);
    } else if let Some(rule) = name.strip_prefix("rule.") {
        run.rules.extend(before.parse().ok().map(|value: f64| (rule.to_owned(), value)));
    } else if let Some(fact) = run.machine.facts.iter_mut().find(|fact| fact.name == name) {
        fact.value = match (&fact.value, before.parse()) {
            (FactValue::Number(_), Ok(number)) => FactValue::Number(number),
            (FactValue::List(_), _) => FactValue::List(before.split(' ').map(str::to_owned).collect()),
            _ => FactValue::Text(before.to_owned()),
        };
    }
}

/// The changes by the numbers of runs.
fn events(found: &History, values: &[SessionValue]) -> Value {
    let number = |run: usize| values.get(run).map(|value| value.number);
    let event = |event: &history::Event| {
        let member = event.members.first();
        let with: Vec<String> = event.with.iter().map(|at| found.ledger[*at].words()).collect();
        json!({ "shape": event.shape, "run": number(event.run), "end": event.end.and_then(number),
                "found": number(event.found), "slower": member.map(|member| member.slower),
                "low": member.map(|member| member.low), "high": member.map(|member| member.high), "with": with })
    };
    found.events.iter().map(event).collect()
}
