//! The values of one result on one machine over time, and what changed: as `prony history` says it, from what the store
//! lists, without the documents of the runs.

use history::{HistoryRun, MetricPoint};
use model::{FactValue, ResultKey, Run};
use report::view::HistoryContext;
use report::words::{day, plural};
use report::{Block, Cell, Column, PrintedQuantity, Table, TableRow};
use store::{EnvironmentChange, SessionValue, Store};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{Failed, Page, run_link};
use crate::address;
use crate::library::Library;

/// Sessions of a history, the newest ones.
const SESSIONS: usize = 20_000;
/// Runs that the page lists, the newest first.
const RUNS: usize = 50;

pub(super) fn page(store: &dyn Store, library: &Library, identity: &str, key: &str) -> Result<Page, Failed> {
    let key = parsed(key).ok_or_else(|| Failed::missing("There is no such result"))?;
    let values = store.histories(std::slice::from_ref(&key), identity, SESSIONS)?.pop().unwrap_or_default();
    let Some(last) = values.last() else { return Err(Failed::missing("This machine has no value of this result")) };
    let newest = library.find(store, last.number)?;
    let newest = newest.ok_or_else(|| Failed::missing("The newest run was removed meanwhile"))?.1.run;
    let result = newest.result(&key).ok_or_else(|| Failed::missing("There is no such result"))?;

    let run = |value: &SessionValue| HistoryRun { handle: value.number.to_string(), started: value.started.clone() };
    let point = |(run, value): (usize, &SessionValue)| {
        let &SessionValue { value, low, high, .. } = value;
        MetricPoint { run, value, low, high }
    };
    let points = values.iter().enumerate().map(point).collect();
    let machines = machines(&newest, &values, store.environments(identity)?);
    let machines: Vec<(usize, &Run)> = machines.iter().map(|(at, run)| (*at, run)).collect();
    let found = history::history_of(result, values.iter().map(run).collect(), points, &machines);
    let mut document = report::view::history(&found, &HistoryContext { charts: true, ..HistoryContext::default() });
    document.title = format!("{} on {}", report::words::result_label(result), newest.machine.name);

    let row = |value: &SessionValue| {
        let quantity = PrintedQuantity::interval(value.value, value.low, value.high, result.metric.unit);
        let quantity = quantity.in_metric(&result.metric);
        TableRow::of(vec![
            run_link(value.number, None),
            Cell::text(day(&value.started)),
            Cell::Value(quantity),
            Cell::Interval(quantity),
            Cell::Count(value.samples.into()),
        ])
    };
    let rows = values.iter().rev().take(RUNS).map(row).collect();
    let title = format!("the newest of {}", plural(values.len(), "session"));
    document.add(title, Block::Table(Table::plain(Column::list("run|started|#value|#95% interval|#samples"), rows)));
    let all = (format!("all results of {}", newest.machine.name), address::machine(identity));
    Ok(Page::Document(Box::new(document), vec![all]))
}

/// A result's key from its text, `id:parameters`.
fn parsed(text: &str) -> Option<ResultKey> {
    let (benchmark, parameters) = text.split_once(':').unwrap_or((text, ""));
    Some(ResultKey::new(benchmark, parameters.parse().ok()?))
}

/// The machine as it was in the first session, and from each session on with which something changed.
fn machines(newest: &Run, values: &[SessionValue], mut changes: Vec<EnvironmentChange>) -> Vec<(usize, Run)> {
    let time = |started: &str, number: u64| (OffsetDateTime::parse(started, &Rfc3339).ok(), number);
    let session = |change: &EnvironmentChange| {
        let changed = time(&change.started, change.number);
        values.partition_point(|value| time(&value.started, value.number) < changed)
    };
    // What has happened since the last session is not known to the newest run.
    changes.retain(|change| session(change) < values.len());
    let mut run = Run { results: Vec::new(), ..newest.clone() };
    let mut found = Vec::new();
    let mut known = values.len();
    for change in changes.iter().rev() {
        let at = session(change);
        if at < known {
            found.push((at, run.clone()));
            known = at;
        }
        change.facts.iter().for_each(|(name, before, _)| restore(&mut run, name, before));
    }
    if known > 0 {
        found.push((0, run));
    }
    found.reverse();
    found
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
