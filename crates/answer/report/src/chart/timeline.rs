//! Quantities over the same time, each in its own row.

use maud::{Markup, html};

use super::colour;
use crate::{PrintedQuantity, Timeline, TimelineRow};

/// Height of a row.
const HEIGHT: f64 = 28.0;

pub(super) fn draw(timeline: &Timeline) -> Option<Markup> {
    let known = timeline.rows.iter().flat_map(|row| &row.heights).any(Option::is_some);
    let end = PrintedQuantity::bare(timeline.seconds, model::Unit::Seconds).short();
    known.then(|| {
        html! {
            table.rows.time {
                thead { tr { td {} th.plot scope="col" { span.ends { span { "0 s" } span { (end) } } } th scope="col" { "range" } } }
                tbody { @for row in &timeline.rows {
                    tr { th scope="row" { (row.label) } td.plot { (bars(row)) } td { (row.range) } }
                } }
            }
        }
    })
}

fn bars(row: &TimelineRow) -> Markup {
    let each = 1000.0 / row.heights.len().max(1) as f64;
    let mut path = format!("M0 {HEIGHT}H1000");
    for (at, height) in row.heights.iter().enumerate() {
        let Some(height) = height.filter(|height| *height > 0.0) else { continue };
        let (from, high) = (at as f64 * each, HEIGHT * height.min(1.0));
        path.push_str(&format!("M{from:.1} {HEIGHT}V{:.1}h{each:.1}V{HEIGHT}z", HEIGHT - high));
    }
    html! {
        svg.strip viewBox={ "0 0 1000 " (HEIGHT) } preserveAspectRatio="none" width="100%" height=(HEIGHT) aria-hidden="true" {
            path.fill.(colour(row.colour)) d=(path) {}
        }
    }
}
