//! A matrix of quantities, shaded by size where a format can.

use model::Better;
use serde::Serialize;

use super::{Cell, Column, ColumnKind, PrintedQuantity, Table, TableRow};

/// A quantity for every pair of a row and a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeatMap {
    /// What it shows and how to read it.
    pub about: String,
    /// What the rows are, over their names.
    pub down: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows: their names, and one quantity for each column; none where nothing was measured.
    pub rows: Vec<(String, Vec<Option<PrintedQuantity>>)>,
    /// Which way is better: the best is shaded least.
    pub better: Better,
}

impl HeatMap {
    /// The same as a table, for formats that shade nothing.
    pub(crate) fn table(&self) -> Table {
        let mut columns = vec![Column::new(&self.down, ColumnKind::Label)];
        columns.extend(self.columns.iter().map(|name| Column::new(name, ColumnKind::Number)));
        let cell = |quantity: &Option<PrintedQuantity>| quantity.map_or(Cell::Empty, Cell::Value);
        let row = |(name, cells): &(String, Vec<Option<PrintedQuantity>>)| {
            TableRow::of(std::iter::once(Cell::text(name)).chain(cells.iter().map(cell)).collect())
        };
        Table::plain(columns, self.rows.iter().map(row).collect())
    }

    /// The same with one character for each cell, for matrices that are wider than a page: the columns are those of the
    /// rows, in their order.
    pub(crate) fn shaded(&self) -> Vec<String> {
        const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
        let room = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let level = |quantity: &PrintedQuantity| ((self.shade(quantity.value) * 4.0) as usize).min(3);
        let cell = |cell: &Option<PrintedQuantity>| cell.as_ref().map_or('·', |quantity| SHADES[level(quantity)]);
        let row = |(name, cells): &(String, Vec<Option<PrintedQuantity>>)| {
            format!("{}{name} {}", " ".repeat(room - name.chars().count()), cells.iter().map(cell).collect::<String>())
        };
        let columns = match (self.columns.first(), self.columns.last()) {
            (Some(first), Some(last)) => format!("columns: {first} to {last}, as the rows"),
            _ => String::new(),
        };
        let cells = || self.rows.iter().flat_map(|(_, cells)| cells).flatten();
        let range = |at: usize| {
            let mut values: Vec<&PrintedQuantity> = cells().filter(|quantity| level(quantity) == at).collect();
            values.sort_by(|a, b| a.value.total_cmp(&b.value));
            let (low, high) = (values.first()?.text(), values.last()?.text());
            Some(if low == high { format!("{} {low}", SHADES[at]) } else { format!("{} {low} to {high}", SHADES[at]) })
        };
        let legend: Vec<String> = (0..SHADES.len()).filter_map(range).collect();
        std::iter::once(columns).chain(self.rows.iter().map(row)).chain([legend.join("   ")]).collect()
    }

    /// How far a value lies from the best towards the worst, 0 to 1 on a logarithmic scale; 0 where all are alike.
    pub(crate) fn shade(&self, value: f64) -> f64 {
        let values = || self.rows.iter().flat_map(|(_, cells)| cells).flatten().map(|q| q.value).filter(|v| *v > 0.0);
        let (low, high) = values().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), v| (low.min(v), high.max(v)));
        if high <= low * 1.000_001 || value <= 0.0 {
            return 0.0;
        }
        let at = ((value / low).ln() / (high / low).ln()).clamp(0.0, 1.0);
        if self.better == Better::Lower { at } else { 1.0 - at }
    }
}
