//! Sections and their blocks.

use maud::{Markup, html};

use super::{boxes, chart, heat, table};
use crate::{Block, Document, DocumentSection, Error};

/// Links to the sections, if there are several.
pub(super) fn contents(document: &Document) -> Markup {
    let titled: Vec<_> =
        document.sections.iter().enumerate().filter(|(_, section)| !section.title.is_empty()).collect();
    html! {
        @if titled.len() > 2 {
            nav aria-label="sections" { @for (index, section) in titled { a href={ "#s" (index) } { (section.title) } } }
        }
    }
}

pub(super) fn section(index: usize, section: &DocumentSection) -> Result<Markup, Error> {
    let drawn = blocks(&section.blocks)?;
    Ok(html! {
        section id={ "s" (index) } {
            @if !section.title.is_empty() { h2 { (section.title) } }
            (drawn)
        }
    })
}

/// The blocks; consecutive charts share a row where there is room.
fn blocks(all: &[Block]) -> Result<Markup, Error> {
    let chart = |block: &Block| matches!(block, Block::Chart(_));
    let parts = all.chunk_by(|a, b| chart(a) && chart(b)).map(|part| {
        let drawn = part.iter().map(block).collect::<Result<Vec<Markup>, Error>>()?;
        let one = html! { @for one in &drawn { (one) } };
        Ok(if part.len() > 1 {
            html! { div.charts { (one) } }
        } else {
            one
        })
    });
    let parts = parts.collect::<Result<Vec<Markup>, Error>>()?;
    Ok(html! { @for part in parts { (part) } })
}

fn block(block: &Block) -> Result<Markup, Error> {
    Ok(match block {
        Block::Text(text) => html! { p { (text) } },
        Block::Badge(badge) => html! {
            p.badge { b class=(table::class(badge.tone)) { (badge.head()) } " " (badge.text) }
        },
        Block::List { numbered: true, items } => html! { ol { @for item in items { li { (item) } } } },
        Block::List { items, .. } => html! { ul { @for item in items { li { (item) } } } },
        Block::Facts(facts) => html! { dl { @for (name, value) in facts { dt { (name) } dd { (value) } } } },
        Block::Table(table) => table::draw(table),
        Block::Cards(cards) => html! {
            div.cards { @for card in cards {
                div class={ "card " (table::class(card.tone)) } { b { (card.value) } " " span { (card.label) } }
            } }
        },
        Block::Multiples(charts) => {
            let drawn = charts.iter().map(chart::draw_small).collect::<Result<Vec<Markup>, Error>>()?;
            html! { div.multiples { @for one in drawn { (one) } } }
        }
        Block::Chart(chart) => chart::draw(chart)?,
        Block::Heat(map) => heat::draw(map),
        Block::Boxes(picture) => boxes::draw(picture),
        Block::Folded { title, blocks: inner } => {
            let inner = blocks(inner)?;
            html! { details { summary { (title) } (inner) } }
        }
    })
}
