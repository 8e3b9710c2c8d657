//! The values of one result on one machine over time, with what changed on the machine.

use model::{Metric, ResultKey, Unit};
use report::words::{day, plural};
use report::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Curves, Division, Document, DocumentSection, EmbeddedJson, Mark,
    PrintedQuantity, Series, Table, TableRow,
};
use serde_json::json;
use store::{EnvironmentChange, SessionValue, Store};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{Failed, Page, change, run_link};
use crate::address;
use crate::library::Library;

/// Sessions of a history, the newest ones.
const SESSIONS: usize = 20_000;
/// Parts into which a long history is divided for drawing; of each the least and the greatest value are drawn.
const PARTS: usize = 150;
/// Changes that the chart marks, and that the page lists, the newest ones.
const MARKS: usize = 8;
const LISTED: usize = 50;
/// Runs that the page lists, the newest first.
const RUNS: usize = 50;
/// Facts of a change that the page names.
const FACTS: usize = 6;

pub(super) fn page(
    store: &dyn Store,
    library: &Library,
    identity: &str,
    key: &str,
    twin: bool,
) -> Result<Page, Failed> {
    let key = parsed(key).ok_or_else(|| Failed::missing("There is no such result"))?;
    let values = store.histories(std::slice::from_ref(&key), identity, SESSIONS)?.pop().unwrap_or_default();
    let [.., last] = values.as_slice() else {
        return Err(Failed::missing("This machine has no value of this result"));
    };
    let newest = library.find(store, last.number)?;
    let newest = newest.ok_or_else(|| Failed::missing("The newest run was removed meanwhile"))?.1;
    let result = newest.run.result(&key).ok_or_else(|| Failed::missing("There is no such result"))?;
    let metric = &result.metric;
    let mut changes = store.environments(identity)?;
    let since = moment(&values[0].started);
    changes.retain(|change| moment(&change.started) >= since);
    let (said, events) = change::found(&newest.run, result, &values, &changes);

    let label = report::words::result_label(result);
    let mut document = Document::new(format!("{label} on {}", newest.run.machine.name));
    let now = quantity(last, metric).text_with_interval();
    document.summary.push(format!(
        "{now} in run {}, {}. {} are known.",
        last.number,
        day(&last.started),
        plural(values.len(), "session")
    ));
    document.add("", Block::Chart(chart(&label, metric, &values, &changes)));
    document.sections.push(DocumentSection { title: "changes of the value".to_owned(), blocks: said });
    if !changes.is_empty() {
        document.add("what changed on this machine", Block::Table(ledger(&changes)));
    }
    document.add(
        format!("the newest of {}", plural(values.len(), "session")),
        Block::Table(newest_values(&values, metric)),
    );
    if twin {
        let data = json!({ "benchmark": key.benchmark, "parameters": key.parameters, "title": result.title,
                           "metric": metric, "machine": newest.run.machine.name, "identity": identity,
                           "values": values, "changes": changes, "events": events });
        document.data = EmbeddedJson::compact(&data).ok();
    }
    let all = (format!("all results of {}", newest.run.machine.name), address::machine(identity));
    Ok(Page::Document(Box::new(document), vec![all]))
}

/// A result's key from its text, `id:parameters`.
fn parsed(text: &str) -> Option<ResultKey> {
    let (benchmark, parameters) = text.split_once(':').unwrap_or((text, ""));
    Some(ResultKey::new(benchmark, parameters.parse().ok()?))
}

fn quantity(value: &SessionValue, metric: &Metric) -> PrintedQuantity {
    let quantity = match value.low < value.high {
        true => PrintedQuantity::interval(value.value, value.low, value.high, metric.unit),
        false => PrintedQuantity::bare(value.value, metric.unit),
    };
    quantity.in_metric(metric)
}

/// Days since 1970; 0 where that is unknown.
pub(super) fn moment(text: &str) -> f64 {
    let parsed = OffsetDateTime::parse(text, &Rfc3339);
    parsed.map_or(0.0, |moment| moment.unix_timestamp() as f64 / 86_400.0)
}

fn chart(label: &str, metric: &Metric, values: &[SessionValue], changes: &[EnvironmentChange]) -> Chart {
    let first = moment(&values[0].started);
    let points = thinned(values).into_iter().map(|value| (moment(&value.started) - first, quantity(value, metric)));
    let mark =
        |change: &EnvironmentChange| Mark { x: moment(&change.started) - first, text: change.facts[0].0.clone() };
    let skipped = changes.len().saturating_sub(MARKS);
    let drawn = points.collect::<Vec<_>>();
    let thinner =
        if drawn.len() < values.len() { " Drawn: the least and the greatest value of each part." } else { "" };
    Chart {
        title: "value over time".to_owned(),
        about: format!("Bars: interval of each session. Marks: a fact of the machine changed.{thinner}"),
        plot: ChartPlot::Curves(Curves {
            x: ChartAxis {
                title: format!("days since {}", day(&values[0].started)),
                unit: Unit::Count,
                division: Division::Linear,
            },
            y: ChartAxis::new(label, metric.unit, Division::Linear),
            series: vec![Series { name: label.to_owned(), colour: 0, variant: 0, points: drawn }],
            marks: changes.iter().skip(skipped).map(mark).collect(),
        }),
    }
}

/// The values that are drawn: all of them, or the least and the greatest of each part, so that no spike is lost.
fn thinned(values: &[SessionValue]) -> Vec<&SessionValue> {
    if values.len() <= 2 * PARTS {
        return values.iter().collect();
    }
    let mut kept = Vec::new();
    for part in 0..PARTS {
        let range = part * values.len() / PARTS..(part + 1) * values.len() / PARTS;
        let by_value = |a: &usize, b: &usize| values[*a].value.total_cmp(&values[*b].value);
        let ends = [range.clone().min_by(by_value), range.max_by(by_value)];
        kept.extend(ends.into_iter().flatten());
    }
    kept.extend([0, values.len() - 1]);
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|at| &values[at]).collect()
}

fn ledger(changes: &[EnvironmentChange]) -> Table {
    let rows = changes.iter().rev().take(LISTED).flat_map(|change| {
        let more = change.facts.len().saturating_sub(FACTS);
        let fact = move |(at, (name, before, after)): (usize, &(String, String, String))| {
            let from = |cell: Cell| if at == 0 { cell } else { Cell::Empty };
            let short = |text: &str| text.chars().take(80).collect::<String>();
            TableRow::of(vec![
                from(Cell::text(day(&change.started))),
                from(run_link(change.number, None)),
                Cell::text(name),
                Cell::text(short(before)),
                Cell::text(short(after)),
            ])
        };
        let rest =
            (more > 0).then(|| TableRow::of(vec![Cell::Empty, Cell::Empty, Cell::text(format!("and {more} more"))]));
        change.facts.iter().take(FACTS).enumerate().map(fact).chain(rest).collect::<Vec<_>>()
    });
    Table::plain(Column::list("since|run|fact|before|after"), rows.collect())
}

fn newest_values(values: &[SessionValue], metric: &Metric) -> Table {
    let columns = vec![
        Column::label("run"),
        Column::words("started"),
        Column::number("value"),
        Column::number("95% interval"),
        Column::number("samples"),
    ];
    let row = |value: &SessionValue| {
        let quantity = quantity(value, metric);
        TableRow::of(vec![
            run_link(value.number, None),
            Cell::text(day(&value.started)),
            Cell::Value(quantity),
            Cell::Interval(quantity),
            Cell::Count(value.samples.into()),
        ])
    };
    Table::plain(columns, values.iter().rev().take(RUNS).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_history_is_thinned_for_drawing_and_keeps_its_spikes() {
        let value = |at: usize| SessionValue {
            number: at as u64,
            id: String::new(),
            started: String::new(),
            value: if at == 7777 {
                9.0
            } else if at == 1234 {
                0.1
            } else {
                1.0 + (at % 10) as f64 * 0.01
            },
            low: 0.9,
            high: 1.1,
            samples: 14,
        };
        let all: Vec<SessionValue> = (0..10_000).map(value).collect();
        let drawn = thinned(&all);
        assert!(drawn.len() <= 2 * PARTS + 2 && drawn.is_sorted_by_key(|value| value.number));
        for at in [0, 1234, 7777, 9999] {
            assert!(drawn.iter().any(|value| value.number == at), "{at}");
        }
        assert_eq!(thinned(&all[..300]).len(), 300, "a short one is drawn as it is");
    }
}
