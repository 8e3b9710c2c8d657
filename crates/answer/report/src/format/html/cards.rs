//! Cards: machines with the quality of their data, verdicts, and key results.

use maud::{Markup, html};

use super::table::{class, content};
use crate::chart::{colour, glyph, sample_strip};
use crate::{Badge, Cell, MachineCard, Table, TableRow, Tone, VerdictCard};

/// The word of a badge in the colours of quality, whose level its dots say as well.
pub(super) fn badge(badge: &Badge) -> Markup {
    let (level, dots) = match badge.tone {
        Tone::Good => ("high", "●●●"),
        Tone::Caution => ("middle", "●●○"),
        Tone::Bad => ("low", "●○○"),
        _ => ("", ""),
    };
    html! {
        p.badge { b class={ "quality " (level) } { span aria-hidden="true" { (dots) } " " (badge.head()) } " " (badge.text) }
    }
}

pub(super) fn machines(machines: &[MachineCard]) -> Markup {
    html! {
        div.machines { @for machine in machines {
            article class={ "machine " (colour(machine.colour)) } {
                h3 { (machine.name) }
                @for line in &machine.lines { p { (line) } }
                @if let Some(one) = &machine.badge { (badge(one)) }
            }
        } }
    }
}

pub(super) fn verdicts(cards: &[VerdictCard]) -> Markup {
    html! {
        div.cards { @for card in cards {
            div class={ "card " (class(card.tone)) } {
                b { @if card.tone != Tone::Plain { span.sign aria-hidden="true" { (glyph(card.tone)) } " " } (card.value) }
                " " span { (card.label) }
            }
        } }
    }
}

/// One tile for each row: its name, its value, its interval and its samples.
pub(super) fn tiles(table: &Table) -> Markup {
    html! {
        div.tiles { @for row in table.rows() { (tile(row)) } }
    }
}

fn tile(row: &TableRow) -> Markup {
    let label = match row.cells.first() {
        Some(Cell::Text(text, _)) => text.as_str(),
        _ => "",
    };
    let detail = row.detail.as_deref();
    let value = row.cells.get(1).unwrap_or(&Cell::Empty);
    html! {
        div.tile.wide[detail.is_some_and(|detail| detail.wide)] {
            p.name { @if let Some(detail) = detail { a href={ "#" (detail.link.id) } { (label) } } @else { (label) } }
            @match value {
                Cell::Across(text, tone) => p class=(class(*tone)) { (text) },
                value => p.value { (content(value)) },
            }
            @if let Some(interval) = row.cells.get(2) { p.interval { (content(interval)) } }
            @if let Some(samples) = detail.and_then(|detail| detail.samples.as_ref()) { (sample_strip(samples)) }
        }
    }
}
