//! Plain text for a terminal, which fits its width and is readable without colour.

mod cell;
mod grid;
mod paint;

use std::io::Write;

use crate::{Block, BoxTree, Chart, ChartPlot, Document, DocumentSection, Error, ReportFormat, TableRow, Tone};
use paint::Paint;
pub(super) use paint::clean;

/// Width of a column of a matrix, from which one is drawn as numbers.
const MATRIX_CELL: usize = 11;

/// Before the commands that a reader may want next.
const NEXT: &str = "Next: ";

/// Most columns of pictures.
const PICTURE: usize = 160;

/// A cell as plain text.
pub(super) fn cell_text(row: &TableRow, column: usize) -> String {
    cell::words(&cell::Drawn::new(row, column))
}

/// Renders documents for a terminal.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Width of lines, at least 20; [`Terminal::ENDLESS`] breaks none.
    pub width: usize,
    /// Whether to add ANSI colours; the text is complete without them.
    pub colour: bool,
}

impl Terminal {
    /// The width of output for other programs: a line for each row and paragraph.
    pub const ENDLESS: usize = usize::MAX / 4;
}

impl Default for Terminal {
    fn default() -> Self {
        Self { width: 100, colour: false }
    }
}

impl ReportFormat for Terminal {
    fn render(&self, document: &Document, out: &mut dyn Write) -> Result<(), Error> {
        let page = TerminalPage { width: self.width.max(20), paint: Paint(self.colour) };
        let mut lines = Vec::new();
        page.text(&mut lines, &document.title, "", "  ", Tone::Strong);
        for note in &document.notes {
            page.text(&mut lines, note, "  note  ", "        ", Tone::Muted);
        }
        for section in &document.sections {
            page.section(&mut lines, section);
        }
        if !document.summary.is_empty() {
            lines.push(String::new());
        }
        for sentence in &document.summary {
            page.text(&mut lines, sentence, "", "  ", Tone::Plain);
        }
        if !document.next.is_empty() {
            page.next(&mut lines, &document.next);
        }
        for line in lines {
            writeln!(out, "{}", line.replace('\u{a0}', " ").trim_end())?;
        }
        Ok(())
    }
}

/// The page being written.
#[derive(Debug, Clone, Copy)]
struct TerminalPage {
    width: usize,
    paint: Paint,
}

impl TerminalPage {
    fn section(&self, lines: &mut Vec<String>, section: &DocumentSection) {
        lines.push(String::new());
        self.text(lines, &section.title, "", "  ", Tone::Strong);
        self.blocks(lines, &section.blocks);
    }

    fn blocks(&self, lines: &mut Vec<String>, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Text(text) => self.text(lines, text, "  ", "  ", Tone::Plain),
                Block::Badge(badge) => {
                    let head = clean(&badge.head());
                    let from = lines.len();
                    self.text(lines, &format!("{head} {}", badge.text), "  ", "  ", Tone::Plain);
                    // The words are short: they stand in the first line.
                    if let Some(first) = lines.get_mut(from) {
                        *first = first.replacen(&head, &self.paint.tone(&head, badge.tone), 1);
                    }
                }
                Block::List { numbered, items } => self.list(lines, *numbered, items),
                Block::Facts(facts) => self.facts(lines, facts),
                Block::Table(table) | Block::Tiles(table) => grid::draw(table, self.width, self.paint, lines),
                Block::Machines(machines) => {
                    for machine in machines {
                        let text = format!("{}: {}", machine.name, machine.lines.join("; "));
                        self.text(lines, &text, "  ", "    ", Tone::Plain);
                        if let Some(badge) = &machine.badge {
                            self.text(lines, &format!("{} {}", badge.head(), badge.text), "  ", "    ", Tone::Plain);
                        }
                    }
                }
                Block::Commands(commands) => {
                    lines.extend(commands.iter().map(|command| format!("  {}", clean(command))));
                }
                Block::Chart(Chart { title, about, plot: ChartPlot::Timeline(timeline) }) => {
                    self.text(lines, &format!("{title}. {about}"), "  ", "    ", Tone::Muted);
                    lines.extend(timeline.lines(self.picture()).iter().map(|line| format!("  {}", clean(line))));
                }
                Block::Cards(cards) => {
                    let cards: Vec<String> =
                        cards.iter().map(|card| format!("{} {}", card.label, card.value)).collect();
                    self.text(lines, &cards.join("   "), "  ", "  ", Tone::Strong);
                }
                Block::Multiples(charts) => {
                    let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
                    let text = format!("charts: {}. --format html draws them.", titles.join(", "));
                    self.text(lines, &text, "  ", "    ", Tone::Muted);
                }
                Block::Chart(chart) => {
                    let text = format!("chart: {}. {} --format html draws it.", chart.title, chart.about);
                    self.text(lines, &text, "  ", "    ", Tone::Muted);
                }
                Block::Heat(heat) => {
                    self.text(lines, &heat.about, "  ", "  ", Tone::Muted);
                    // A number and its unit for every column.
                    if (heat.columns.len() + 1) * MATRIX_CELL <= self.width {
                        grid::draw(&heat.table(), self.width, self.paint, lines);
                    } else {
                        lines.extend(heat.shaded().iter().map(|line| format!("  {}", clean(line))));
                    }
                }
                Block::Boxes(picture) => {
                    let drawn = picture.tree.drawn(self.picture());
                    if drawn.iter().all(|line| paint::width(line) + 2 <= self.width) {
                        lines.extend(drawn.iter().map(|line| format!("  {}", clean(line))));
                    } else {
                        self.outline(lines, &picture.tree, 1);
                    }
                }
                Block::Folded { title, blocks } => {
                    self.text(lines, title, "  ", "  ", Tone::Strong);
                    self.blocks(lines, blocks);
                }
            }
        }
    }

    /// Columns for a picture.
    fn picture(&self) -> usize {
        self.width.min(PICTURE).saturating_sub(2)
    }

    /// Commands are copied whole, so none is broken: side by side where they fit, else a line each.
    fn next(&self, lines: &mut Vec<String>, commands: &[String]) {
        let commands: Vec<String> = commands.iter().map(|command| clean(command)).collect();
        let together = format!("{NEXT}{}", commands.join(" · "));
        if paint::width(&together) <= self.width {
            lines.push(together);
            return;
        }
        let margin = " ".repeat(NEXT.len());
        let each = commands.iter().enumerate();
        lines.extend(each.map(|(at, command)| format!("{}{command}", if at == 0 { NEXT } else { &margin })));
    }

    /// Boxes as an indented list, where the page is too narrow to draw them.
    fn outline(&self, lines: &mut Vec<String>, tree: &BoxTree, depth: usize) {
        let margin = " ".repeat((2 * depth).min(self.width / 3));
        for text in std::iter::once(&tree.title).chain(&tree.lines) {
            self.text(lines, text, &margin, &margin, Tone::Plain);
        }
        tree.children.iter().for_each(|child| self.outline(lines, child, depth + 1));
    }

    fn list(&self, lines: &mut Vec<String>, numbered: bool, items: &[String]) {
        let room = items.len().to_string().len();
        for (index, item) in items.iter().enumerate() {
            let mark = if numbered { format!("  {:>room$}  ", index + 1) } else { "  · ".to_owned() };
            self.text(lines, item, &mark, &" ".repeat(paint::width(&mark)), Tone::Plain);
        }
    }

    fn facts(&self, lines: &mut Vec<String>, facts: &[(String, String)]) {
        let names: Vec<String> = facts.iter().map(|(name, _)| clean(name)).collect();
        let room = names.iter().map(|name| paint::width(name)).max().unwrap_or(0).min(self.width / 3);
        for (name, (_, value)) in names.iter().zip(facts) {
            let head = format!("  {}  ", paint::fill(name, room));
            if paint::width(&head) > room + 4 {
                self.text(lines, name, "  ", "    ", Tone::Plain);
                self.text(lines, value, &" ".repeat(room + 4), &" ".repeat(room + 4), Tone::Plain);
            } else {
                self.text(lines, value, &head, &" ".repeat(room + 4), Tone::Plain);
            }
        }
    }

    /// Wraps a text, with prefixes for the first and for the other lines.
    fn text(&self, lines: &mut Vec<String>, text: &str, first: &str, other: &str, tone: Tone) {
        if text.is_empty() {
            return;
        }
        for (index, part) in
            paint::wrap(&clean(text), self.width - paint::width(first).max(paint::width(other))).iter().enumerate()
        {
            lines.push(format!("{}{}", if index == 0 { first } else { other }, self.paint.tone(part, tone)));
        }
    }
}
