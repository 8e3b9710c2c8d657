//! The list of all probes.

use model::{Catalogue, ProbeDescription};

use super::probe::metric_words;
use crate::words::plural;
use crate::{Block, Cell, Column, Document, EmbeddedJson, Records, RowGroup, Table, TableRow, Tone};

/// The report of `prony probes`.
#[must_use]
pub fn catalogue(catalogue: &Catalogue) -> Document {
    let probes = &catalogue.probes;
    let mut document = Document::new(format!("{} can be measured", plural(probes.len(), "probe")));
    let columns = Column::list("|what it is|value");
    let table =
        Table { columns, groups: RowGroup::by_family(probes.iter().map(|probe| (probe.id.as_str(), row(probe)))) };
    document.add("", Block::Table(table));
    if let Some(first) = probes.first() {
        document.next = vec![format!("prony probes {}", first.id), format!("prony run --probe {}", first.id)];
    }
    document.data = EmbeddedJson::of(catalogue).ok();
    document.records = Some(records(probes));
    document
}

fn row(probe: &ProbeDescription) -> TableRow {
    TableRow::of(vec![
        Cell::text(&probe.id),
        Cell::text(&probe.title),
        Cell::Text(metric_words(&probe.metric), Tone::Muted),
    ])
}

fn records(probes: &[ProbeDescription]) -> Records {
    let header = vec!["probe", "title", "value", "axes", "stresses"];
    let rows = probes
        .iter()
        .map(|probe| {
            vec![
                probe.id.clone(),
                probe.title.clone(),
                metric_words(&probe.metric),
                probe.axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(" "),
                probe.stresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            ]
        })
        .collect();
    Records { header, rows }
}
