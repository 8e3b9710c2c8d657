//! Tables. Rows with a detail can be found, linked and opened, and show their samples.

use maud::{Markup, html};
use model::percent;

use crate::chart::{sample_strip, samples_plot};
use crate::document::unit_gap;
use crate::{Cell, Column, ColumnKind, PrintedQuantity, RowDetail, RowGroup, Table, TableRow, Tone};

pub(super) fn draw(table: &Table) -> Markup {
    let headed = table.columns.iter().any(|column| !column.title.is_empty());
    let grid = TableGrid::of(table);
    html! {
        div.scroll.results[grid.strip.is_some()] tabindex="0" role="group" aria-label=(name(table)) {
            table {
                @if headed {
                    thead { tr { @for (index, column) in table.columns.iter().enumerate() {
                        @if column.title.is_empty() {
                            td {}
                        } @else {
                            th scope="col" class=(grid.classes[index]) { (column.title) }
                        }
                        @if grid.strip == Some(index) { th scope="col" { "distribution" } }
                    } } }
                }
                @for group in &table.groups { (body(&grid, group)) }
            }
        }
    }
}

/// What a table is of, for who cannot see it.
fn name(table: &Table) -> String {
    let titles = table.columns.iter().map(|column| column.title.as_str()).filter(|title| !title.is_empty());
    let titles: Vec<&str> = titles.take(4).collect();
    if titles.is_empty() { "table".to_owned() } else { format!("table of {}", titles.join(", ")) }
}

/// The columns of a table, and where the samples stand.
struct TableGrid<'a> {
    columns: &'a [Column],
    classes: Vec<&'static str>,
    /// The column after which the samples of the rows are drawn.
    strip: Option<usize>,
}

impl<'a> TableGrid<'a> {
    fn of(table: &'a Table) -> Self {
        let classes = (0..table.columns.len()).map(|index| alignment(table, index)).collect();
        let sampled = table.rows().filter_map(|row| row.detail.as_ref()).any(|detail| detail.samples.is_some());
        let interval = |row: &TableRow| row.cells.iter().position(|cell| matches!(cell, Cell::Interval(_)));
        let after = table.rows().find_map(interval).unwrap_or(table.columns.len().saturating_sub(1));
        Self { columns: &table.columns, classes, strip: sampled.then_some(after) }
    }

    fn width(&self) -> usize {
        self.columns.len() + usize::from(self.strip.is_some())
    }
}

fn body(grid: &TableGrid<'_>, group: &RowGroup) -> Markup {
    html! {
        tbody {
            @if !group.title.is_empty() {
                tr.group { th scope="rowgroup" colspan=(grid.width()) {
                    (group.title) @if !group.note.is_empty() { span.muted { " (" (group.note) ")" } }
                } }
            }
            @for one in &group.rows {
                (row(grid, one))
                @if let Some(detail) = one.detail.as_deref().filter(|detail| detail.has_content()) {
                    tr.detail { td colspan=(grid.width()) { (inside(detail)) } }
                }
            }
        }
    }
}

/// Class of a column by where its texts end: those of numbers and of shaded cells at the right.
fn alignment(table: &Table, index: usize) -> &'static str {
    let shaded = || table.rows().any(|row| matches!(row.cells.get(index), Some(Cell::Heat { .. })));
    match table.columns[index].kind {
        ColumnKind::Number => "n",
        ColumnKind::Words if table.rows().any(|row| row.detail.is_some()) => "short",
        _ if shaded() => "heat",
        _ => "",
    }
}

fn row(grid: &TableGrid<'_>, row: &TableRow) -> Markup {
    let across = row.cells.iter().position(|cell| matches!(cell, Cell::Across(..)));
    let shown = across.map_or(grid.columns.len(), |index| index + 1);
    let detail = row.detail.as_deref();
    let (wide, changed) = (detail.is_some_and(|one| one.wide), detail.is_some_and(|one| one.changed));
    html! {
        tr.wide[wide].changed[changed] id=[detail.map(|one| &one.link.id)] data-f=[detail.map(|one| &one.link.family)] {
            @for (index, column) in grid.columns.iter().take(shown).enumerate() {
                @let cell = row.cells.get(index).unwrap_or(&Cell::Empty);
                @if index == 0 && column.kind == ColumnKind::Label {
                    th scope="row" { (label(cell, detail)) }
                } @else if let Cell::Across(text, tone) = cell {
                    td colspan=(grid.width() - index) class=(class(*tone)) { (text) }
                } @else if let Cell::Heat { text, gain } = cell {
                    td class=(heat(*gain)) data-v=(gain) { (text) }
                } @else {
                    td class=(grid.classes[index]) data-v=[order(cell)] {
                        @if detail.is_some() { (switched(cell)) } @else { (content(cell)) }
                    }
                }
                @if grid.strip == Some(index) && across.is_none() {
                    td.strip { @if let Some(samples) = detail.and_then(|one| one.samples.as_ref()) { (sample_strip(samples)) } }
                }
            }
        }
    }
}

/// The name of a row, which opens it if it has anything in it.
fn label(cell: &Cell, detail: Option<&RowDetail>) -> Markup {
    html! {
        @if detail.is_some_and(RowDetail::has_content) {
            details.row { summary { (content(cell)) } }
        } @else {
            (content(cell))
        }
    }
}

/// What an opened row shows: its samples, and the quantiles of its operations.
fn inside(detail: &RowDetail) -> Markup {
    html! {
        @if let Some(samples) = &detail.samples { (samples_plot(samples)) }
        @if let Some(tails) = &detail.tails { (draw(tails)) }
    }
}

/// An interval as it is, and relative to its value: the page shows one of them.
fn switched(cell: &Cell) -> Markup {
    match cell {
        Cell::Interval(quantity) if quantity.has_interval() && quantity.value > 0.0 => {
            let end = |end: f64| percent(end / quantity.value - 1.0);
            let (low, high) = (end(quantity.low), end(quantity.high));
            let sign = if quantity.high >= quantity.value { "+" } else { "" };
            html! { span.abs { (content(cell)) } span.rel { (low) " – " (sign) (high) } }
        }
        _ => content(cell),
    }
}

pub(super) fn content(cell: &Cell) -> Markup {
    if let Some(quantity) = cell.quantity() {
        let digits = quantity.digits();
        return match cell {
            Cell::Interval(_) if quantity.has_interval() => {
                html! {
                    (digits.low) " – " (digits.high)
                    @if let Some(note) = quantity.ends_note() { " " span.muted { (note) } }
                }
            }
            Cell::Interval(_) => html! { span.muted { "no error bars" } },
            Cell::Marked(_, mark) => html! { (value(quantity)) sup { (mark) } },
            Cell::Below(_) => html! { "< " (value(quantity)) },
            _ => value(quantity),
        };
    }
    match cell {
        Cell::Text(text, tone) | Cell::Across(text, tone) if *tone != Tone::Plain => {
            html! { span class=(class(*tone)) { (text) } }
        }
        Cell::Text(text, _) | Cell::Across(text, _) => html! { (text) },
        Cell::Link { text, to } => html! { a href=(to) { (text) } },
        Cell::Printed(text) => html! { (text) },
        Cell::Count(count) => html! { (count) },
        _ => html! {},
    }
}

fn value(quantity: &PrintedQuantity) -> Markup {
    let digits = quantity.digits();
    html! { (digits.value) @if !digits.unit.is_empty() { span.u { (unit_gap(&digits.unit)) (digits.unit) } } }
}

/// The sort key of a cell, if it is not its text.
fn order(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Count(count) => Some(count.to_string()),
        _ => cell.quantity().map(|quantity| quantity.value.to_string()),
    }
}

/// Class of a ground in four shades for each side, by the size of the gain.
fn heat(gain: f64) -> String {
    let size = gain.ln();
    let shade = [0.02, 0.1, 0.3, 0.7].iter().filter(|least| size.abs() > **least).count();
    format!("heat {}{shade}", if size > 0.0 { "better" } else { "worse" })
}

pub(super) const fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Strong => "strong",
        Tone::Muted => "muted",
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Caution => "caution",
    }
}
