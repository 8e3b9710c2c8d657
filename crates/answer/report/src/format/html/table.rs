//! Tables, with bars for intervals.

use std::borrow::Cow;
use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::document::unit_gap;
use crate::{Cell, Column, ColumnKind, PrintedQuantity, RowGroup, Table, TableRow, Tone};

/// Relative deviation that a bar shows on each side.
const REACH: f64 = 0.05;
/// The shaded part of a bar: the default target of convergence.
const BAND: f64 = 0.02;

pub(super) fn draw(table: &Table) -> Markup {
    let headed = table.columns.iter().any(|column| !column.title.is_empty());
    let classes: Vec<&str> = (0..table.columns.len()).map(|index| alignment(table, index)).collect();
    html! {
        div.scroll tabindex="0" {
            table {
                @if barred(table) { caption { "Bars: 95% interval, clipped at ±5%. Green: ±2% target." } }
                @if headed {
                    thead { tr { @for (column, class) in table.columns.iter().zip(&classes) { th scope="col" class=(class) { (column.title) } } } }
                }
                @for group in &table.groups {
                    @let decimals = decimals(table, group);
                    tbody {
                        @if !group.title.is_empty() {
                            tr.group { th scope="rowgroup" colspan=(table.columns.len()) {
                                (group.title) @if !group.note.is_empty() { span.muted { " (" (group.note) ")" } }
                            } }
                        }
                        @for one in &group.rows { (row(&table.columns, &classes, &decimals, one)) }
                    }
                }
            }
        }
    }
}

fn barred(table: &Table) -> bool {
    let bar = |cell: &Cell| matches!(cell, Cell::Interval(q) if q.has_interval() && q.unit != model::Unit::Ratio);
    table.rows().flat_map(|row| &row.cells).any(bar)
}

/// Class of a column by where its texts end: those of numbers and of shaded cells at the right.
fn alignment(table: &Table, index: usize) -> &'static str {
    let shaded = || table.rows().any(|row| matches!(row.cells.get(index), Some(Cell::Heat { .. })));
    match table.columns[index].kind {
        ColumnKind::Number => "n",
        _ if shaded() => "heat",
        _ => "",
    }
}

fn row(columns: &[Column], classes: &[&str], decimals: &[Decimals], row: &TableRow) -> Markup {
    let across = row.cells.iter().position(|cell| matches!(cell, Cell::Across(..)));
    let shown = across.map_or(columns.len(), |index| index + 1);
    html! {
        tr {
            @for (index, column) in columns.iter().take(shown).enumerate() {
                @let cell = row.cells.get(index).unwrap_or(&Cell::Empty);
                @if index == 0 && column.kind == ColumnKind::Label {
                    th scope="row" { (content(cell, &decimals[index])) }
                } @else if let Cell::Across(text, tone) = cell {
                    td colspan=(columns.len() - index) class=(class(*tone)) { (text) }
                } @else if let Cell::Heat { text, gain } = cell {
                    td class=(heat(*gain)) data-v=(gain) { (text) }
                } @else {
                    td class=(classes[index]) data-v=[order(cell)] {
                        (content(cell, &decimals[index]))
                    }
                }
            }
        }
    }
}

fn content(cell: &Cell, decimals: &Decimals) -> Markup {
    if let Some(quantity) = cell.quantity() {
        let digits = quantity.digits();
        let decimals = decimals.get(&digits.unit).copied().unwrap_or(0);
        return match cell {
            Cell::Interval(_) if quantity.has_interval() => {
                html! {
                    (digits.low) " – " (number(&digits.high, decimals))
                    @if let Some(note) = quantity.ends_note() { " " span.muted { (note) } }
                    (bar(quantity))
                }
            }
            Cell::Interval(_) => html! { span.muted { "no error bars" } },
            Cell::Marked(_, mark) => html! { (number(&digits.value, decimals)) (unit(&digits.unit)) sup { (mark) } },
            Cell::Below(_) => html! { "< " (number(&digits.value, decimals)) (unit(&digits.unit)) },
            _ => html! { (number(&digits.value, decimals)) (unit(&digits.unit)) },
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

/// Largest number of decimals of every unit in a column.
type Decimals = BTreeMap<Cow<'static, str>, usize>;

/// Decimals in every column of a group.
fn decimals(table: &Table, group: &RowGroup) -> Vec<Decimals> {
    let column = |index: usize| {
        let mut most = Decimals::new();
        for quantity in group.rows.iter().filter_map(|row| row.cells.get(index)?.quantity()) {
            let digits = quantity.digits();
            let known = most.entry(digits.unit).or_default();
            *known = (*known).max(places(&digits.value));
        }
        most
    };
    (0..table.columns.len()).map(column).collect()
}

fn places(number: &str) -> usize {
    number.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// A number padded for the decimals of other numbers in its column, so that the decimal points are aligned.
fn number(text: &str, decimals: usize) -> Markup {
    let missing = decimals.saturating_sub(places(text));
    let parameters = if missing > 0 && !text.contains('.') { 0.5 } else { 0.0 };
    html! {
        @if missing > 0 { span style={ "padding-right:" (missing as f64 + parameters) "ch" } { (text) } } @else { (text) }
    }
}

fn unit(unit: &str) -> Markup {
    html! { @if !unit.is_empty() { span.u { (unit_gap(unit)) (unit) } } }
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

/// The interval around its value, up to ±5%, with an arrow if it continues. Ratios have their own plot.
fn bar(quantity: &PrintedQuantity) -> Markup {
    if quantity.unit == model::Unit::Ratio || !quantity.has_interval() || quantity.value == 0.0 {
        return html! {};
    }
    let relative = |x: f64| (x / quantity.value - 1.0).clamp(-2.0 * REACH, 2.0 * REACH);
    let (low, high) = (relative(quantity.low), relative(quantity.high));
    if !low.is_finite() || !high.is_finite() {
        return html! {};
    }
    let place = |x: f64| format!("{:.1}", 40.0 + 36.0 * (x / REACH).clamp(-1.0, 1.0));
    let band = (place(-BAND), format!("{:.1}", 72.0 * BAND / REACH));
    let class = if high.max(-low) > BAND * 1.01 { "bar wide" } else { "bar" };
    html! {
        svg class=(class) viewBox="0 0 80 12" aria-hidden="true" {
            rect.band x=(band.0) y="1" width=(band.1) height="10" {}
            line x1=(place(low)) x2=(place(high)) y1="6" y2="6" {}
            @if low < -REACH { path d="M6 3 L2 6 L6 9" {} }
            @if high > REACH { path d="M74 3 L78 6 L74 9" {} }
            circle cx="40" cy="6" r="2.2" {}
        }
    }
}
