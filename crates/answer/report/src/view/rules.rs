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
    let row = |rule: &model::Rule| {
        let value = rule.value.to_string();
        TableRow::of([rule.name, &value, rule.unit, rule.reason, rule.source].map(Cell::text).to_vec())
    };
    let rows = rules.iter().map(row).collect();
    document.sections.push(DocumentSection::of("", Block::Table(Table::plain(columns, rows))));
    document.data = EmbeddedJson::of(&rules).ok();
    document
}
