//! The list of `prony selftest --rules`: every number that can move a value.

use model::RULES;

use crate::{Block, Cell, Column, ColumnKind, Document, DocumentSection, EmbeddedJson, Table, TableRow};

/// Every rule with its number, unit, reason and source; its JSON is the list of them.
#[must_use]
pub fn rules() -> Document {
    let rules = RULES.list();
    let mut document = Document::new(format!("{} rules: every number that can move a value", rules.len()));
    let columns = vec![
        Column::new("rule", ColumnKind::Label),
        Column::new("value", ColumnKind::Number),
        Column::new("unit", ColumnKind::Words),
        Column::new("reason", ColumnKind::Words),
        Column::new("source", ColumnKind::Words),
    ];
    let row = |rule: &model::Rule| TableRow {
        cells: vec![
            Cell::text(rule.name),
            Cell::text(rule.value.to_string()),
            Cell::text(rule.unit),
            Cell::text(rule.reason),
            Cell::text(rule.source),
        ],
    };
    let rows = rules.iter().map(row).collect();
    document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns, rows))));
    document.data = EmbeddedJson::of(&rules).ok();
    document
}
