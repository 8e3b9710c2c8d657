//! The list of all probes.

use model::{Catalogue, ProbeDescription};

use super::probe::metric_words;
use crate::words::{family_title, plural};
use crate::{
    Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Records, RowGroup, Table, TableRow, Tone,
};

/// The report of `prony probes`.
#[must_use]
pub fn catalogue(catalogue: &Catalogue) -> Document {
    let probes = &catalogue.probes;
    let mut document = Document::new(format!("{} can be measured", plural(probes.len(), "probe")));
    let columns = vec![
        Column::new("", ColumnKind::Label),
        Column::new("what it is", ColumnKind::Words),
        Column::new("value", ColumnKind::Words),
    ];
    let mut groups: Vec<(&str, RowGroup)> = Vec::new();
    for probe in probes {
        let family = probe.id.split('.').next().unwrap_or_default();
        if groups.last().is_none_or(|(last, _)| *last != family) {
            groups.push((family, RowGroup { title: family_title(family), ..RowGroup::default() }));
        }
        if let Some((_, group)) = groups.last_mut() {
            group.rows.push(row(probe));
        }
    }
    let table = Table { columns, groups: groups.into_iter().map(|(_, group)| group).collect() };
    document.sections.push(DocumentSection::of("", Block::Table(table)));
    if let Some(first) = probes.first() {
        document.next = vec![format!("prony probes {}", first.id), format!("prony run --probe {}", first.id)];
    }
    document.data = EmbeddedJson::of(catalogue).ok();
    document.records = Some(records(probes));
    document
}

fn row(probe: &ProbeDescription) -> TableRow {
    TableRow {
        cells: vec![
            Cell::text(&probe.id),
            Cell::text(&probe.title),
            Cell::Text(metric_words(&probe.metric), Tone::Muted),
        ],
    }
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
