//! Tables: distributes the width over columns, and wraps labels. Where a label would get too little, it stands on a line
//! of its own above its numbers; on a page too narrow for that, the numbers follow as `title: value`.

use super::cell::{Drawn, Measure, words};
use super::paint::{Paint, clean, fill_left, width, wrap};
use crate::{Cell, ColumnKind, Table, TableRow, Tone};

const GAP: &str = "  ";
const NBSP: &str = "\u{a0}";
/// Least width of a column of texts before the table is printed as lines.
const LEAST_WORDS: usize = 10;
/// Longest words of labels and of other texts that are kept whole, from all of them to the last before a table is
/// printed as lines: that a long label is cut matters least.
const MOST_WORDS: [(usize, usize); 4] = [(usize::MAX, usize::MAX), (48, 48), (16, 16), (LEAST_WORDS, 16)];
/// Texts of a column of words that are kept on one line, such as `1.08x slower`.
const SHORT_TEXT: usize = 16;
/// Least width next to the label for a text over the rest of a row.
const LEAST_ACROSS: usize = 28;
/// Least width of labels beside numbers: narrower ones would break a name into fragments.
const LEAST_LABEL: usize = 28;
/// How far the numbers below a label, and remarks below a row, are indented.
const BELOW: usize = 2;

/// What gains alone need to be read.
const GAINS: &str = "Gains: above 1 is better.";

struct Grid<'a> {
    table: &'a Table,
    rows: Vec<Vec<Vec<Drawn>>>,
    /// One set for each group, so that one family's thousands do not shift another's decimals.
    measures: Vec<Vec<Measure>>,
    rooms: Vec<usize>,
    /// Whether labels have lines of their own, above their numbers.
    stacked: bool,
    /// Whether remarks stand at the end of their rows: all of them, or none.
    beside: bool,
    indent: usize,
    width: usize,
    paint: Paint,
}

/// Renders a table as lines of at most `page` columns. If shaded factors need two lines, only gains are printed, since
/// a map has a line for each machine.
pub(super) fn draw(table: &Table, page: usize, paint: Paint, lines: &mut Vec<String>) {
    let mut grid = Grid::new(table, page, paint, Drawn::new);
    let found = grid.found_rooms();
    if !found.as_ref().is_some_and(|found| grid.keeps_factors_whole(found)) {
        let mut short = Grid::new(table, page, paint, Drawn::short);
        if let Some(found) = short.found_rooms() {
            short.draw_in(found, lines);
            lines.extend(wrap(GAINS, page - 2).iter().map(|line| format!("  {}", paint.tone(line, Tone::Muted))));
            return;
        }
    }
    match found {
        Some(found) => grid.draw_in(found, lines),
        None => grid.draw_narrow(lines),
    }
}

impl<'a> Grid<'a> {
    fn new(table: &'a Table, width: usize, paint: Paint, drawn: fn(&TableRow, usize) -> Drawn) -> Self {
        let columns = table.columns.len();
        let cells = |row: &TableRow| (0..columns).map(|index| drawn(row, index)).collect();
        let rows: Vec<Vec<Vec<Drawn>>> =
            table.groups.iter().map(|group| group.rows.iter().map(cells).collect()).collect();
        let measure = |group: &Vec<Vec<Drawn>>| {
            let mut measures = vec![Measure::default(); columns];
            for row in group {
                measures.iter_mut().zip(row).for_each(|(measure, cell)| measure.add(cell));
            }
            measures
        };
        let measures = rows.iter().map(measure).collect();
        let indent = if table.groups.iter().any(|group| !group.title.is_empty()) { 4 } else { 2 };
        Grid { table, rows, measures, rooms: Vec::new(), stacked: false, beside: false, indent, width, paint }
    }
}

impl Grid<'_> {
    fn kind(&self, column: usize) -> ColumnKind {
        self.table.columns[column].kind
    }

    /// Widths of the columns, so that no word is cut where that leaves room for the others, and whether the labels are
    /// above them. Headings of numbers take several lines only where they would not fit otherwise.
    fn found_rooms(&self) -> Option<(Vec<usize>, bool)> {
        let stackable = self.table.columns.len() > 2 && self.kind(0) == ColumnKind::Label;
        [false, true].into_iter().filter(|stacked| !*stacked || stackable).find_map(|stacked| {
            let rooms = |tall| MOST_WORDS.iter().find_map(|most| self.rooms(*most, tall, stacked));
            [false, true].into_iter().find_map(rooms).map(|rooms| (rooms, stacked))
        })
    }

    /// Whether every shaded factor stands on one line, beside its label; so it is where there are none.
    fn keeps_factors_whole(&self, (rooms, stacked): &(Vec<usize>, bool)) -> bool {
        let cells = self.table.groups.iter().flat_map(|group| &group.rows).flat_map(|row| row.cells.iter().zip(rooms));
        let mut factors = cells.filter_map(|(cell, room)| match cell {
            Cell::Heat { text, .. } => Some((text, room)),
            _ => None,
        });
        factors.all(|(text, room)| width(&clean(text)) <= *room && !stacked)
    }

    fn draw_in(&mut self, (rooms, stacked): (Vec<usize>, bool), lines: &mut Vec<String>) {
        (self.rooms, self.stacked) = (rooms, stacked);
        self.tighten();
        self.beside = self.remarks_fit();
        self.draw(lines);
    }

    /// Whether every remark fits at the end of its row.
    fn remarks_fit(&self) -> bool {
        let end = self.start(self.table.columns.len());
        let fits = |row: &Vec<Drawn>| {
            let texts = row.iter().enumerate().filter(|(column, _)| self.kind(*column) == ColumnKind::Remark);
            let remarks =
                texts.map(|(_, cell)| if let Drawn::Text(text, _) = cell { width(text) + GAP.len() } else { 0 });
            let needed: usize = remarks.sum();
            needed == 0 || end + needed <= self.width + GAP.len() && self.is_one_line(row)
        };
        self.rows.iter().flatten().all(fits)
    }

    /// Whether no cell of a row needs several lines beside each other.
    fn is_one_line(&self, row: &[Drawn]) -> bool {
        row.iter().enumerate().all(|(column, cell)| match cell {
            Drawn::Text(text, _) if self.kind(column) != ColumnKind::Remark && !(self.stacked && column == 0) => {
                width(text) <= self.rooms[column]
            }
            Drawn::Across(..) => false,
            _ => true,
        })
    }

    /// Where a column begins.
    fn start(&self, column: usize) -> usize {
        let shown = |other: &usize| self.kind(*other) != ColumnKind::Remark && !(self.stacked && *other == 0);
        let before: usize = (0..column).filter(shown).map(|other| self.rooms[other] + GAP.len()).sum();
        self.indent + if self.stacked { BELOW } else { 0 } + before
    }

    /// Width of every column, words of at most so many letters whole, or `None` if they do not fit side by side.
    /// Remarks get the remaining width. `tall` gives a heading of numbers no more than its longest word needs.
    fn rooms(&self, most: (usize, usize), tall: bool, stacked: bool) -> Option<Vec<usize>> {
        let heading = |column: usize| {
            let title = clean(&self.table.columns[column].title);
            let words = || title.split(' ').map(width).max().unwrap_or(0);
            if tall && self.kind(column) == ColumnKind::Number { words() } else { width(&title) }
        };
        let widest = |column: usize| self.measures.iter().map(|group| group[column].all()).max().unwrap_or(0);
        let mut rooms: Vec<usize> = (0..self.table.columns.len())
            .map(|column| match self.kind(column) {
                ColumnKind::Remark => 0,
                ColumnKind::Label if column == 0 && stacked => 0,
                ColumnKind::Label if column == 0 => widest(column).max(heading(column)).max(self.widest_heading()),
                _ => widest(column).max(heading(column)),
            })
            .collect();
        let indent = self.indent + if stacked { BELOW } else { 0 };
        let least: Vec<usize> = (0..rooms.len()).map(|column| self.least(column, most)).collect();
        loop {
            let shown = rooms.iter().filter(|room| **room > 0).count();
            let taken = indent + rooms.iter().sum::<usize>() + GAP.len() * shown.saturating_sub(1);
            let Some(excess) = taken.checked_sub(self.width).filter(|excess| *excess > 0) else { return Some(rooms) };
            let widest = (0..rooms.len())
                .filter(|column| matches!(self.kind(*column), ColumnKind::Label | ColumnKind::Words))
                .filter(|column| rooms[*column] > least[*column])
                .max_by_key(|column| rooms[*column])?;
            rooms[widest] = (rooms[widest] - 1).max(rooms[widest].saturating_sub(excess)).max(least[widest]);
        }
    }

    /// Least width of a column of texts: that of its longest word, at most so many letters, so that none is cut.
    fn least(&self, column: usize, (labels, texts): (usize, usize)) -> usize {
        let most = if self.kind(column) == ColumnKind::Label { labels } else { texts };
        // Wrapped labels have a hanging indent.
        let indent = |text: &str| if self.kind(column) == ColumnKind::Label && text.contains(' ') { 2 } else { 0 };
        let short = |text: &str| self.kind(column) == ColumnKind::Words && width(text) <= SHORT_TEXT;
        let longest = |text: &str| text.split(' ').map(width).max().unwrap_or(0) + indent(text);
        let cells = self.rows.iter().flatten().filter_map(|row| row.get(column));
        let needed = |text: &str| if short(text) { width(text) } else { longest(text) };
        let words = cells.filter_map(|cell| if let Drawn::Text(text, _) = cell { Some(needed(text)) } else { None });
        let heading = longest(&clean(&self.table.columns[column].title));
        let least = if column == 0 && self.kind(column) == ColumnKind::Label { LEAST_LABEL } else { LEAST_WORDS };
        words.chain([heading]).max().unwrap_or(0).clamp(LEAST_WORDS, most).max(least)
    }

    /// A wrapped label needs only the width of its longest line; the rest serves the remarks.
    fn tighten(&mut self) {
        let heading = self.table.columns.first().map_or(0, |column| width(&clean(&column.title)));
        if self.rooms.is_empty() || self.kind(0) != ColumnKind::Label || self.stacked {
            return;
        }
        let room = self.rooms[0];
        let mut needed = heading.max(self.widest_heading());
        for row in self.rows.iter().flatten() {
            let Some(Drawn::Text(text, _)) = row.first() else { continue };
            // Two more for the hanging indent, which the same line breaks need again.
            let wrapped = || self.wrapped(0, text, room).iter().map(|line| width(line) + 2).max().unwrap_or(room);
            needed = needed.max(if width(text) > room { wrapped() } else { width(text) });
        }
        self.rooms[0] = needed.min(room);
    }

    /// The heading of the first group shares a line with the columns' headings.
    fn widest_heading(&self) -> usize {
        self.table.groups.first().map_or(0, |group| width(&heading(group)).min(40).saturating_sub(self.indent - 2))
    }

    fn draw(&self, lines: &mut Vec<String>) {
        for (index, (group, rows)) in self.table.groups.iter().zip(&self.rows).enumerate() {
            let title = heading(group);
            if index == 0 {
                self.draw_header(if self.stacked { "" } else { &title }, lines);
            }
            if (index > 0 || self.stacked) && !title.is_empty() {
                for line in wrap(&title, self.width - 2) {
                    lines.push(format!("  {}", self.paint.tone(&line, Tone::Strong)));
                }
            }
            for row in rows {
                self.draw_row(row, &self.measures[index], lines);
            }
        }
    }

    /// The headings of the columns; the first group's heading shares their line if the labels have none.
    fn draw_header(&self, title: &str, lines: &mut Vec<String>) {
        let headings: Vec<String> = self.table.columns.iter().map(|column| clean(&column.title)).collect();
        let own = headings.first().is_some_and(|heading| !heading.is_empty());
        let room = self.rooms.first().copied().unwrap_or(0) + self.indent - 2;
        let mut wrapped =
            if title.is_empty() { Vec::new() } else { wrap(title, if own { self.width - 2 } else { room }) };
        let beside = if own || wrapped.len() > 1 { None } else { wrapped.pop() };
        lines.extend(wrapped.iter().map(|line| format!("  {}", self.paint.tone(line, Tone::Strong))));
        let mut block = Vec::new();
        if let Some(beside) = beside {
            place(&mut block, 2, &[self.paint.tone(&beside, Tone::Strong)]);
        }
        for (column, heading) in headings.iter().enumerate() {
            let room = self.rooms[column];
            if self.kind(column) == ColumnKind::Remark || self.stacked && column == 0 {
                continue;
            }
            let paint = |text: &String| match self.kind(column) {
                ColumnKind::Number => self.paint.tone(&fill_left(text, room), Tone::Muted),
                _ => self.paint.tone(text, Tone::Muted),
            };
            if !heading.is_empty() {
                let parts: Vec<String> = wrap(heading, room).iter().map(paint).collect();
                place(&mut block, self.start(column), &parts);
            }
        }
        lines.append(&mut block);
    }

    fn draw_row(&self, row: &[Drawn], measures: &[Measure], lines: &mut Vec<String>) {
        let mut block: Vec<String> = Vec::new();
        let mut tails: Vec<(String, Tone)> = Vec::new();
        let mut across = false;
        for (column, cell) in row.iter().enumerate() {
            let room = self.rooms[column];
            match cell {
                Drawn::Text(text, tone) if self.kind(column) == ColumnKind::Remark => {
                    tails.push((text.clone(), *tone));
                }
                _ if across || self.kind(column) == ColumnKind::Remark => {}
                _ if self.stacked && column == 0 => {
                    let label = words(cell);
                    let parts = self.wrapped(0, &label, self.width - self.indent);
                    lines.extend(parts.iter().map(|part| format!("{}{part}", " ".repeat(self.indent))));
                }
                Drawn::Across(text, tone) => {
                    self.across(&mut block, self.start(column), text, *tone);
                    across = true;
                }
                Drawn::Text(text, tone) if width(text) > room => {
                    let parts = self.wrapped(column, text, room);
                    let parts: Vec<String> = parts.iter().map(|part| self.paint.tone(part, *tone)).collect();
                    place(&mut block, self.start(column), &parts);
                }
                _ => place(&mut block, self.start(column), &[measures[column].line(cell, room, self.paint)]),
            }
        }
        let end = self.start(self.table.columns.len());
        for (text, tone) in tails {
            if self.beside {
                let start = block.first().map_or(0, |line| visible(line) + GAP.len()).max(end);
                place(&mut block, start, &[self.paint.tone(&text, tone)]);
            } else {
                self.below(&mut block, &text, tone);
            }
        }
        lines.extend(block.iter().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()));
    }

    /// A text on lines of its own.
    fn below(&self, block: &mut Vec<String>, text: &str, tone: Tone) {
        let margin = self.indent + BELOW;
        for part in wrap(text, self.width - margin) {
            block.push(format!("{}{}", " ".repeat(margin), self.paint.tone(&part, tone)));
        }
    }

    /// A label breaks after a comma and has a hanging indent; other texts break anywhere.
    fn wrapped(&self, column: usize, text: &str, room: usize) -> Vec<String> {
        if self.kind(column) != ColumnKind::Label || room < 20 {
            return wrap(text, room);
        }
        let whole = text.split(", ").all(|part| width(part) + 3 <= room);
        let text = if whole { text.replace(' ', "\u{a0}").replace(",\u{a0}", ", ") } else { text.to_owned() };
        let mut parts = wrap(&text, room - 2);
        for part in parts.iter_mut().skip(1) {
            part.insert_str(0, "  ");
        }
        parts
    }

    /// A text over the rest of the row: beside the label if it fits, else below it.
    fn across(&self, block: &mut Vec<String>, start: usize, text: &str, tone: Tone) {
        let beside = self.width.saturating_sub(start);
        if width(text) <= beside || beside >= LEAST_ACROSS {
            let parts: Vec<String> = wrap(text, beside).iter().map(|part| self.paint.tone(part, tone)).collect();
            place(block, start, &parts);
        } else {
            self.below(block, text, tone);
        }
    }

    /// One line for each cell, for pages too narrow for columns.
    fn draw_narrow(&self, lines: &mut Vec<String>) {
        for (group, rows) in self.table.groups.iter().zip(&self.rows) {
            for line in wrap(&heading(group), self.width - 2) {
                lines.push(format!("  {}", self.paint.tone(&line, Tone::Strong)));
            }
            let indent = if group.title.is_empty() { 2 } else { 4 };
            let placed = |text: &str, indent: usize| -> Vec<String> {
                let parts = wrap(text, self.width - indent);
                parts.iter().map(|part| format!("{}{part}", " ".repeat(indent))).collect()
            };
            for row in rows {
                let mut cells: Vec<String> = Vec::new();
                for (column, cell) in row.iter().enumerate() {
                    let text = words(cell);
                    let title = clean(&self.table.columns[column].title);
                    match column {
                        _ if text.is_empty() => {}
                        0 => lines.extend(placed(&text, indent)),
                        _ => {
                            let cell = if title.is_empty() { text } else { format!("{title}: {text}") };
                            // A short cell is not broken.
                            let short = width(&cell) <= (self.width / 2).saturating_sub(indent);
                            cells.push(if short { cell.replace(' ', NBSP) } else { cell });
                        }
                    }
                }
                lines.extend(placed(&cells.join(", "), indent + 2));
            }
        }
    }
}

fn heading(group: &crate::RowGroup) -> String {
    match (group.title.is_empty(), group.note.is_empty()) {
        (true, _) => String::new(),
        (false, true) => clean(&group.title),
        (false, false) => format!("{}  ({})", clean(&group.title), clean(&group.note)),
    }
}

/// Adds lines to a block, starting at a column.
fn place(block: &mut Vec<String>, start: usize, parts: &[String]) {
    for (index, part) in parts.iter().enumerate() {
        if block.len() <= index {
            block.push(String::new());
        }
        let missing = start.saturating_sub(visible(&block[index]));
        block[index].push_str(&" ".repeat(missing));
        block[index].push_str(part);
    }
}

/// Visible width of a line that may contain colours.
fn visible(line: &str) -> usize {
    let mut plain = String::with_capacity(line.len());
    let mut escape = false;
    for c in line.chars() {
        match (escape, c) {
            (false, '\u{1b}') => escape = true,
            (true, 'm') => escape = false,
            (true, _) => {}
            (false, c) => plain.push(c),
        }
    }
    width(&plain)
}

#[cfg(test)]
#[path = "grid_tests.rs"]
mod tests;
