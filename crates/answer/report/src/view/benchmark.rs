//! One benchmark: what it does, the meaning of its value, and the source of its definition.

use model::{BenchmarkDescription, Better, Definition, Metric, ParameterDescription, Unit, percent};

use crate::words::{list, parameter_value};
use crate::{Block, Cell, Column, Document, DocumentSection, EmbeddedJson, Table, TableRow, Tone};

/// The report of `prony benchmarks NAME`.
#[must_use]
pub fn benchmark(benchmark: &BenchmarkDescription) -> Document {
    let mut document = Document::new(format!("{}: {}", benchmark.id, benchmark.title));
    let stresses: Vec<String> = benchmark.stresses.iter().map(ToString::to_string).collect();
    let mut facts = vec![
        ("value".to_owned(), metric_words(&benchmark.metric)),
        ("stresses".to_owned(), list(&stresses)),
        (
            "run-to-run variation".to_owned(),
            format!("{} between two runs on one machine, typically", percent(benchmark.class.session_noise())),
        ),
    ];
    for source in &benchmark.sources {
        let at = if source.at.is_empty() { String::new() } else { format!(" at {}", source.at) };
        let (relation, difference) = match &source.definition {
            Definition::Same => ("same as", String::new()),
            Definition::Near(text) => ("similar to", format!(": {text}")),
            Definition::Other(text) => ("differs from", format!(": {text}")),
        };
        let named = format!("{} {} ({})", source.tool, source.name, source.document);
        facts.push((relation.to_owned(), format!("{named}{at}{difference}")));
    }
    facts.retain(|(_, value)| !value.is_empty());
    document.sections.push(DocumentSection {
        title: String::new(),
        blocks: vec![Block::Text(benchmark.about.clone()), Block::Facts(facts)],
    });
    if !benchmark.parameters.is_empty() {
        document.add("", Block::Table(parameters(&benchmark.parameters)));
    }
    document.next = vec![format!("prony run --benchmark {}", benchmark.id)];
    document.data = EmbeddedJson::of(benchmark).ok();
    document
}

/// Unit and direction in words: `time per load; lower is better`.
#[must_use]
pub(super) fn metric_words(metric: &Metric) -> String {
    format!("{}; {} is better", value_words(metric), better(metric))
}

/// `lower` or `higher`.
pub(super) const fn better(metric: &Metric) -> &'static str {
    match metric.better {
        Better::Lower => "lower",
        Better::Higher => "higher",
    }
}

/// Unit in words: `time per load`.
pub(super) fn value_words(metric: &Metric) -> String {
    let per = metric.per.trim();
    let one = if per.is_empty() { String::new() } else { format!(" per {per}") };
    let counted = |what: &str| if per.is_empty() { what.to_owned() } else { per.to_owned() };
    match metric.unit {
        Unit::Seconds => format!("time{one}"),
        Unit::BytesPerSecond => format!("{} per second", counted("bytes")),
        Unit::PerSecond => format!("{} per second", counted("operations")),
        Unit::Hertz => format!("{} per second", counted("cycles")),
        Unit::Bytes => format!("bytes{one}"),
        Unit::Count => format!("number of {}", counted("things")),
        Unit::Ratio => format!("ratio{}", if per.is_empty() { String::new() } else { format!(" of {per}") }),
        Unit::Watts => "power in watts".to_owned(),
        Unit::Joules => format!("energy{one}"),
    }
}

fn parameters(parameters: &[ParameterDescription]) -> Table {
    let columns = Column::list("parameter|default|values");
    let words = |parameter: &ParameterDescription, values: &[String]| {
        values.iter().map(|value| parameter_value(&parameter.name, value)).collect::<Vec<_>>().join(", ")
    };
    let rows = parameters
        .iter()
        .map(|parameter| {
            let all = match parameter.values.as_slice() {
                values @ [first, .., last] if values.len() > 8 => {
                    let from = parameter_value(&parameter.name, first);
                    format!("{} values from {from} to {}", values.len(), parameter_value(&parameter.name, last))
                }
                values => words(parameter, values),
            };
            TableRow::of(vec![
                Cell::text(&parameter.name),
                Cell::text(words(parameter, &parameter.usual)),
                Cell::Text(all, Tone::Plain),
            ])
        })
        .collect();
    Table::plain(columns, rows)
}
