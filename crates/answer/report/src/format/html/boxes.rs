//! Boxes in boxes as a picture.

use maud::{Markup, html};

use crate::BoxPicture;
use crate::document::PlacedBox;

/// Columns of text that a picture is laid out in.
const COLUMNS: usize = 110;
/// Units of the picture to a column and a line of text.
const CELL: (usize, usize) = (8, 18);

pub(super) fn draw(picture: &BoxPicture) -> Markup {
    let placed = picture.tree.place(COLUMNS);
    let (width, height) = (placed.width * CELL.0, placed.height * CELL.1);
    html! {
        figure {
            figcaption { p.muted { (picture.about) } }
            div.scroll tabindex="0" role="group" aria-label=(picture.about) {
                svg.boxes viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img" aria-label=(picture.about) {
                    (one(&placed, 0))
                }
            }
        }
    }
}

fn one(placed: &PlacedBox<'_>, depth: usize) -> Markup {
    let (x, y) = (placed.x * CELL.0, placed.y * CELL.1);
    // An edge lies at the top of its line of text, the title below it.
    let (width, height) = ((placed.width - 1) * CELL.0, (placed.height - 1) * CELL.1);
    let text = |line: usize| y + line * CELL.1 + CELL.1 * 3 / 4;
    html! {
        rect x=(x + CELL.0 / 2) y=(y + 2) width=(width) height=(height) rx="3" fill={ "rgba(128,128,128,0.0" (depth.min(3) * 2 + 1) ")" } stroke="#808080" {}
        text x=(x + CELL.0 * 2) y=(text(0) + 2) font-size="13" font-weight="600" { (placed.tree.title) }
        @for (at, line) in placed.tree.lines.iter().enumerate() {
            text x=(x + CELL.0 * 2) y=(text(at + 1)) font-size="12" { (line) }
        }
        @for child in &placed.children { (one(child, depth + 1)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BoxTree;

    #[test]
    fn a_small_picture_has_its_own_size_and_is_not_blown_up() {
        let tree = BoxTree { title: "1 package".into(), lines: vec!["2 cores".into()], children: vec![] };
        let page = draw(&BoxPicture { about: String::new(), tree }).into_string();
        assert!(page.contains("viewBox=\"0 0 120 54\"") && page.contains("width=\"120\" height=\"54\""), "{page}");
    }
}
