//! A matrix as a table whose cells are shaded by how far they are from the best.

use maud::{Markup, html};

use crate::HeatMap;

/// Columns beyond which a cell is its shade alone, and its number is shown where it is pointed at.
const READABLE: usize = 16;

pub(super) fn draw(map: &HeatMap) -> Markup {
    let large = map.columns.len() > READABLE;
    html! {
        p.muted {
            (map.about)
            @if large { " Point at a cell to see its value." }
        }
        div.scroll tabindex="0" role="group" aria-label=(map.down) {
            table.heat {
                thead { tr { @if map.down.is_empty() { td {} } @else { th scope="col" { (map.down) } } @for name in &map.columns { th.n scope="col" { (name) } } } }
                tbody {
                    @for (name, cells) in &map.rows {
                        tr {
                            th scope="row" { (name) }
                            @for cell in cells {
                                @match cell {
                                    Some(quantity) if large => {
                                        td.n title=(quantity.text()) style=(shade(map.shade(quantity.value))) { "\u{a0}" }
                                    },
                                    Some(quantity) => td.n style=(shade(map.shade(quantity.value))) { (quantity.text()) },
                                    None => td.n {},
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// From nothing to a strong grey, which text stays readable on in both schemes.
fn shade(share: f64) -> String {
    format!("background: rgba(110, 125, 150, {:.2})", 0.5 * share)
}
