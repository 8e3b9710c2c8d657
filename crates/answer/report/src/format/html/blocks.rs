//! Sections and their blocks.

use maud::{Markup, html};

use super::{boxes, cards, chart, heat, table};
use crate::format::terminal::cell_text;
use crate::words::capital;
use crate::{Block, ChartPlot, Column, Document, DocumentSection, Table};

/// Letters that half a page has room for, and those between two columns of a table.
const ROOM: usize = 76;
const BETWEEN: usize = 3;
/// Letters after which the name of a row is broken.
const NAME: usize = 34;

/// Links to the sections, if there are several. The script adds its tools here.
pub(super) fn contents(document: &Document) -> Markup {
    let titled: Vec<_> =
        document.sections.iter().enumerate().filter(|(_, section)| !section.title.is_empty()).collect();
    html! {
        @if titled.len() > 2 {
            nav aria-label="sections" { @for (index, section) in titled { a href={ "#s" (index) } { (capital(&section.title)) } } }
        }
    }
}

/// The sections; consecutive narrow ones stand in two columns where there is room.
pub(super) fn sections(all: &[DocumentSection]) -> Markup {
    let numbered: Vec<(usize, &DocumentSection)> = all.iter().enumerate().collect();
    let parts = numbered.chunk_by(|a, b| is_narrow(a.1) && is_narrow(b.1));
    html! {
        @for part in parts {
            @if part.len() > 1 {
                div.columns { @for (index, one) in part { (section(*index, one)) } }
            } @else {
                @for (index, one) in part { (section(*index, one)) }
            }
        }
    }
}

/// Whether half of a wide page is enough for a section.
fn is_narrow(section: &DocumentSection) -> bool {
    let charts = section.blocks.iter().filter(|block| matches!(block, Block::Chart(_))).count();
    let narrow = |block: &Block| match block {
        Block::Table(table) => letters(table) <= ROOM && table.rows().all(|row| row.detail.is_none()),
        Block::Chart(chart) => match &chart.plot {
            ChartPlot::Forest(_) => false,
            ChartPlot::Ladder(ladder) => ladder.runs.len() == 1,
            _ => true,
        },
        Block::Cards(_) | Block::Tiles(_) | Block::Machines(_) | Block::Multiples(_) | Block::Heat(_) => false,
        Block::Folded { blocks, .. } => !blocks.iter().any(has_forest),
        _ => true,
    };
    charts <= 1 && section.blocks.iter().all(narrow)
}

/// Whether a block is a forest plot, which needs the whole page, or has one in a fold.
fn has_forest(block: &Block) -> bool {
    match block {
        Block::Chart(chart) => matches!(chart.plot, ChartPlot::Forest(_)),
        Block::Folded { blocks, .. } => blocks.iter().any(has_forest),
        _ => false,
    }
}

/// Letters of the longest cells of a table.
fn letters(table: &Table) -> usize {
    let width = |(index, column): (usize, &Column)| {
        let cells = table.rows().map(|row| cell_text(row, index).chars().count());
        let widest = cells.chain([column.title.chars().count() + 2]).max().unwrap_or(0);
        BETWEEN + if index == 0 { widest.min(NAME) } else { widest }
    };
    table.columns.iter().enumerate().map(width).sum()
}

fn section(index: usize, section: &DocumentSection) -> Markup {
    html! {
        section id={ "s" (index) } {
            @if !section.title.is_empty() { h2 { (capital(&section.title)) } }
            (blocks(&section.blocks))
        }
    }
}

/// Paragraphs in a row from which they stand in two columns where there is room.
const MANY_TEXTS: usize = 3;

/// The blocks; consecutive charts share a row where there is room, and so do many paragraphs.
fn blocks(all: &[Block]) -> Markup {
    let chart = |block: &Block| matches!(block, Block::Chart(chart) if !matches!(chart.plot, ChartPlot::Forest(_) | ChartPlot::Ladder(_)));
    let text = |block: &Block| matches!(block, Block::Text(_));
    html! {
        @for part in all.chunk_by(|a, b| (chart(a) && chart(b)) || (text(a) && text(b))) {
            @if part.len() > 1 && part.iter().all(chart) {
                div.charts { @for one in part { (block(one)) } }
            } @else if part.len() >= MANY_TEXTS {
                div.texts { @for one in part { (block(one)) } }
            } @else {
                @for one in part { (block(one)) }
            }
        }
    }
}

fn block(block: &Block) -> Markup {
    match block {
        Block::Text(text) => html! { p { (text) } },
        Block::Badge(badge) => cards::badge(badge),
        Block::List { numbered: true, items } => html! { ol { @for item in items { li { (item) } } } },
        Block::List { items, .. } => html! { ul { @for item in items { li { (item) } } } },
        Block::Facts(facts) => html! { dl { @for (name, value) in facts { dt { (name) } dd { (value) } } } },
        Block::Table(table) => table::draw(table),
        Block::Cards(verdicts) => cards::verdicts(verdicts),
        Block::Tiles(table) => cards::tiles(table),
        Block::Machines(machines) => cards::machines(machines),
        Block::Commands(commands) => html! { div.commands { @for command in commands { pre { code { (command) } } } } },
        Block::Multiples(charts) => html! { div.multiples { @for one in charts { (chart::draw(one, true)) } } },
        Block::Chart(one) => chart::draw(one, false),
        Block::Heat(map) => heat::draw(map),
        Block::Boxes(picture) => boxes::draw(picture),
        Block::Folded { title, blocks: inner } => html! { details { summary { (title) } (blocks(inner)) } },
    }
}
