//! The list of all benchmarks.

use model::{BenchmarkDescription, Catalogue};

use super::benchmark::{better, metric_words, value_words};
use crate::words::plural;
use crate::{Block, Cell, Column, Document, EmbeddedJson, Records, RowGroup, Table, TableRow, Tone};

/// The report of `prony benchmarks`.
#[must_use]
pub fn catalogue(catalogue: &Catalogue) -> Document {
    let benchmarks = &catalogue.benchmarks;
    let mut document = Document::new(plural(benchmarks.len(), "benchmark"));
    let columns = Column::list("|what it measures|value|better");
    let table = Table {
        columns,
        groups: RowGroup::by_family(benchmarks.iter().map(|benchmark| (benchmark.id.as_str(), row(benchmark)))),
    };
    document.add("", Block::Table(table));
    if let Some(first) = benchmarks.first() {
        document.next = vec![format!("prony benchmarks {}", first.id), format!("prony run --benchmark {}", first.id)];
    }
    document.data = EmbeddedJson::of(catalogue).ok();
    document.records = Some(records(benchmarks));
    document
}

fn row(benchmark: &BenchmarkDescription) -> TableRow {
    TableRow::of(vec![
        Cell::text(&benchmark.id),
        Cell::text(&benchmark.title),
        Cell::Text(value_words(&benchmark.metric), Tone::Muted),
        Cell::Text(better(&benchmark.metric).to_owned(), Tone::Muted),
    ])
}

fn records(benchmarks: &[BenchmarkDescription]) -> Records {
    let header = vec!["benchmark", "title", "value", "parameters", "stresses"];
    let rows = benchmarks
        .iter()
        .map(|benchmark| {
            vec![
                benchmark.id.clone(),
                benchmark.title.clone(),
                metric_words(&benchmark.metric),
                benchmark.parameters.iter().map(|parameter| parameter.name.as_str()).collect::<Vec<_>>().join(" "),
                benchmark.stresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            ]
        })
        .collect();
    Records { header, rows }
}
