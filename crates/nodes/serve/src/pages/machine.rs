//! One machine: its runs, and the results that have a history.

use model::ResultKey;
use report::words::plural;
use report::{Block, Cell, Column, Document, EmbeddedJson, PrintedQuantity, RowGroup, Table, TableRow};
use serde_json::json;
use store::{RunFilter, Store};

use super::{Failed, lists};
use crate::address;
use crate::library::{Held, Library};

pub(super) fn page(store: &dyn Store, library: &Library, identity: &str, page: usize) -> Result<Document, Failed> {
    let runs = store.page(&RunFilter::Machine(identity), lists::ROWS + 1, (page - 1) * lists::ROWS)?;
    let newest = store.page(&RunFilter::Machine(identity), 1, 0)?;
    let Some(newest) = newest.first() else { return Err(Failed::missing("There is no such machine")) };
    let held = library.held(store, newest)?;
    let keys = store.keys(identity)?;
    let name = if newest.machine.is_empty() { identity } else { &newest.machine };
    let mut document = Document::new(format!("Machine {name}"));
    document.summary.push(held.run.machine.summary.clone());
    let shown = &runs[..runs.len().min(lists::ROWS)];
    document.add("runs", Block::Table(lists::table(shown)));
    lists::turn(&mut document, &address::machine(identity), page, runs.len() > lists::ROWS);
    if !keys.is_empty() {
        let title = format!("{} with a history", plural(keys.len(), "result"));
        document.add(title, Block::Table(results(identity, &held, &keys)));
    }
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    let data = json!({ "machine": name, "identity": identity, "summary": held.run.machine.summary, "runs": shown,
                       "results": keys });
    document.data = EmbeddedJson::of(&data).ok();
    Ok(document)
}

/// The results of the newest run by family, then those that it did not measure; each links to its history.
fn results(identity: &str, held: &Held, keys: &[ResultKey]) -> Table {
    let row = |key: &ResultKey| {
        let result = held.run.result(key);
        let text = result.map_or_else(|| key.to_string(), report::words::result_label);
        let value = result.and_then(|result| Some((result.outcome.estimate()?, &result.metric)));
        let value = value.map_or(Cell::Empty, |(estimate, metric)| {
            Cell::Value(PrintedQuantity::of(estimate, metric.unit).in_metric(metric))
        });
        TableRow::of(vec![Cell::Link { text, to: address::history(identity, key) }, value])
    };
    let of_run = held.run.results.iter().map(model::BenchmarkResult::key).filter(|key| keys.contains(key));
    let mut ordered: Vec<ResultKey> = of_run.collect();
    ordered.extend(keys.iter().filter(|key| held.run.result(key).is_none()).cloned());
    let rows = ordered.iter().map(|key| (key.benchmark.as_str(), row(key)));
    let newest = format!("value in run {}", held.number);
    Table { columns: vec![Column::label(""), Column::number(newest)], groups: RowGroup::by_family(rows) }
}
