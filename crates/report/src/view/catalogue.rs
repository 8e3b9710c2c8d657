//! Everything that can be measured.

use model::{Catalogue, Description};

use super::probe::metric_words;
use crate::words::{family_title, plural};
use crate::{Block, Cell, Column, Data, Document, Group, Kind, Records, Row, Section, Table, Tone};

/// The report of `prony list`.
#[must_use]
pub fn catalogue(catalogue: &Catalogue) -> Document {
    let probes = &catalogue.probes;
    let mut document = Document::new(format!("{} can be measured", plural(probes.len(), "probe")));
    let columns =
        vec![Column::new("", Kind::Label), Column::new("what it is", Kind::Words), Column::new("value", Kind::Words)];
    let mut groups: Vec<(&str, Group)> = Vec::new();
    for probe in probes {
        let family = probe.id.split('.').next().unwrap_or_default();
        if groups.last().is_none_or(|(last, _)| *last != family) {
            groups.push((family, Group { title: family_title(family), ..Group::default() }));
        }
        if let Some((_, group)) = groups.last_mut() {
            group.rows.push(row(probe));
        }
    }
    let table = Table { columns, groups: groups.into_iter().map(|(_, group)| group).collect() };
    document.sections.push(Section::of("", Block::Table(table)));
    if let Some(first) = probes.first() {
        document.next = vec![format!("prony show {}", first.id), format!("prony run --probe {}", first.id)];
    }
    document.data = Data::of(catalogue).ok();
    document.records = Some(records(probes));
    document
}

fn row(probe: &Description) -> Row {
    Row {
        cells: vec![
            Cell::text(&probe.id),
            Cell::text(&probe.title),
            Cell::Text(metric_words(&probe.metric), Tone::Muted),
        ],
    }
}

fn records(probes: &[Description]) -> Records {
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
