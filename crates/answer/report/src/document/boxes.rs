//! Boxes in boxes, as data and as a layout in cells of text that every format shares.

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

/// A box: its title, lines of text, and the boxes in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BoxTree {
    /// Text on its upper edge.
    pub title: String,
    /// What stands in it.
    pub lines: Vec<String>,
    /// What lies in it, in order of reading.
    pub children: Vec<BoxTree>,
}

/// A picture of boxes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BoxPicture {
    /// How to read it, for who cannot see it.
    pub about: String,
    /// The outermost box.
    pub tree: BoxTree,
}

/// A box with its place, in columns and lines of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacedBox<'a> {
    pub(crate) tree: &'a BoxTree,
    /// Columns and lines from the upper left corner of the picture.
    pub(crate) x: usize,
    pub(crate) y: usize,
    /// Columns and lines, edges included.
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) children: Vec<PlacedBox<'a>>,
}

/// Columns of the edges of a box, with a space at each side.
const EDGES: usize = 4;

impl BoxTree {
    /// The box with its content, at most `columns` wide if its words allow it.
    pub(crate) fn place(&self, columns: usize) -> PlacedBox<'_> {
        self.place_at(0, 0, columns)
    }

    fn place_at(&self, x: usize, y: usize, columns: usize) -> PlacedBox<'_> {
        let room = columns.saturating_sub(EDGES);
        let words = self.lines.iter().map(|line| line.width()).max().unwrap_or(0).max(self.title.width() + 2);
        let (mut children, mut inner) = (Vec::new(), words);
        let (mut column, mut line, mut tallest) = (0, 0, 0);
        let top = y + 1 + self.lines.len();
        for child in &self.children {
            let mut placed = child.place_at(0, 0, room);
            if column > 0 && column + placed.width > room {
                (column, line, tallest) = (0, line + tallest, 0);
            }
            placed.shift(x + 2 + column, top + line);
            column += placed.width + 1;
            inner = inner.max(column - 1);
            tallest = tallest.max(placed.height);
            children.push(placed);
        }
        let height = 2 + self.lines.len() + line + tallest;
        PlacedBox { tree: self, x, y, width: inner + EDGES, height, children }
    }

    /// The picture in characters, a line each.
    pub(crate) fn drawn(&self, columns: usize) -> Vec<String> {
        let placed = self.place(columns);
        let mut canvas = vec![vec![' '; placed.width]; placed.height];
        placed.draw(&mut canvas);
        canvas.into_iter().map(|line| line.into_iter().collect::<String>().trim_end().to_owned()).collect()
    }
}

impl PlacedBox<'_> {
    fn shift(&mut self, x: usize, y: usize) {
        self.x += x;
        self.y += y;
        self.children.iter_mut().for_each(|child| child.shift(x, y));
    }

    fn draw(&self, canvas: &mut [Vec<char>]) {
        let (right, bottom) = (self.x + self.width - 1, self.y + self.height - 1);
        for row in [self.y, bottom] {
            canvas[row][self.x..=right].fill('─');
        }
        for line in &mut canvas[self.y..=bottom] {
            line[self.x] = '│';
            line[right] = '│';
        }
        for (x, y, corner) in [(self.x, self.y, '┌'), (right, self.y, '┐'), (self.x, bottom, '└'), (right, bottom, '┘')]
        {
            canvas[y][x] = corner;
        }
        if !self.tree.title.is_empty() {
            write(canvas, self.x + 2, self.y, &format!(" {} ", self.tree.title));
        }
        for (at, line) in self.tree.lines.iter().enumerate() {
            write(canvas, self.x + 2, self.y + 1 + at, line);
        }
        self.children.iter().for_each(|child| child.draw(canvas));
    }
}

fn write(canvas: &mut [Vec<char>], x: usize, y: usize, text: &str) {
    for (at, letter) in text.chars().enumerate() {
        if let Some(cell) = canvas.get_mut(y).and_then(|line| line.get_mut(x + at)) {
            *cell = letter;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_flow_into_rows() {
        let leaf = |title: &str| BoxTree { title: title.into(), lines: vec!["CPU 0".into()], children: vec![] };
        let tree = BoxTree { title: "all".into(), lines: vec![], children: ["L3 a", "L3 b", "L3 c"].map(leaf).into() };
        let expected = ["┌─ all ───────────────────┐", "│ ┌─ L3 a ─┐ ┌─ L3 b ─┐   │"];
        let drawn = tree.drawn(28);
        assert_eq!(drawn.len(), 8, "{drawn:#?}");
        assert!(drawn[0].starts_with(&expected[0][..8]) && drawn[1].contains("L3 a") && drawn[1].contains("L3 b"));
        assert!(drawn[4].contains("L3 c") && drawn.iter().all(|line| line.width() <= 28), "{drawn:#?}");
        assert_eq!(tree.drawn(80).len(), 5);
    }
}
