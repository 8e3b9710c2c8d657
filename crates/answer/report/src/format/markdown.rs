//! Markdown (CommonMark with the table extension of GitHub).

use std::io::Write;

use crate::document::unit_gap;
use crate::words::is_control;
use crate::{Block, Cell, Chart, ChartPlot, ColumnKind, Document, Error, ReportFormat, RowGroup, Table, TableRow};

/// Renders documents for issues, wikis and README files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Markdown;

impl ReportFormat for Markdown {
    fn render(&self, document: &Document, out: &mut dyn Write) -> Result<(), Error> {
        writeln!(out, "# {}", escaped(&document.title))?;
        if !document.notes.is_empty() {
            writeln!(out)?;
        }
        for note in &document.notes {
            writeln!(out, "- {}", escaped(note))?;
        }
        for section in &document.sections {
            if !section.title.is_empty() {
                writeln!(out, "\n## {}", escaped(&section.title))?;
            }
            for block in &section.blocks {
                write_block(out, block)?;
            }
        }
        for sentence in &document.summary {
            writeln!(out, "\n{}", escaped(sentence))?;
        }
        if !document.next.is_empty() {
            let commands: Vec<String> = document.next.iter().map(|command| code(command)).collect();
            writeln!(out, "\nNext: {}", commands.join(" · "))?;
        }
        Ok(())
    }
}

/// Columns of a picture of boxes.
const BOXES: usize = 100;

fn write_block(out: &mut dyn Write, block: &Block) -> Result<(), Error> {
    writeln!(out)?;
    match block {
        Block::Text(text) => writeln!(out, "{}", escaped(text))?,
        Block::Badge(badge) => writeln!(out, "**{}** {}", escaped(&badge.head()), escaped(&badge.text))?,
        Block::List { numbered, items } => {
            for (index, item) in items.iter().enumerate() {
                let mark = if *numbered { format!("{}.", index + 1) } else { "-".to_owned() };
                writeln!(out, "{mark} {}", escaped(item))?;
            }
        }
        Block::Facts(facts) => {
            for (name, value) in facts {
                writeln!(out, "- **{}**: {}", escaped(name), escaped(value))?;
            }
        }
        Block::Table(table) | Block::Tiles(table) => write_table(out, table)?,
        Block::Machines(machines) => {
            for machine in machines {
                writeln!(out, "- **{}**: {}", escaped(&machine.name), escaped(&machine.lines.join("; ")))?;
                if let Some(badge) = &machine.badge {
                    writeln!(out, "  **{}** {}", escaped(&badge.head()), escaped(&badge.text))?;
                }
            }
        }
        Block::Commands(commands) => {
            for command in commands {
                writeln!(out, "- {}", code(command))?;
            }
        }
        Block::Chart(Chart { title, about, plot: ChartPlot::Timeline(timeline) }) => {
            writeln!(out, "*{}.* {}\n\n```text", escaped(title), escaped(about))?;
            for line in timeline.lines(BOXES) {
                writeln!(out, "{}", line.replace('`', "'").replace(is_control, " "))?;
            }
            writeln!(out, "```")?;
        }
        Block::Cards(cards) => {
            let cards: Vec<String> =
                cards.iter().map(|card| format!("{} **{}**", escaped(&card.label), escaped(&card.value))).collect();
            writeln!(out, "{}", cards.join(" · "))?;
        }
        Block::Multiples(charts) => {
            let titles: Vec<String> = charts.iter().map(|chart| escaped(&chart.title)).collect();
            writeln!(out, "*Charts: {}.*", titles.join(", "))?;
        }
        Block::Chart(chart) => {
            let title = if chart.title.is_empty() { String::new() } else { format!(": {}", escaped(&chart.title)) };
            writeln!(out, "*Chart{title}.* {}", escaped(&chart.about))?;
        }
        Block::Heat(heat) => {
            writeln!(out, "{}\n", escaped(&heat.about))?;
            write_table(out, &heat.table())?;
        }
        Block::Boxes(picture) => {
            writeln!(out, "```text")?;
            for line in picture.tree.drawn(BOXES) {
                writeln!(out, "{}", line.replace('`', "'").replace(is_control, " "))?;
            }
            writeln!(out, "```")?;
        }
        Block::Folded { title, blocks } => {
            writeln!(out, "**{}**", escaped(title))?;
            for block in blocks {
                write_block(out, block)?;
            }
        }
    }
    Ok(())
}

fn write_table(out: &mut dyn Write, table: &Table) -> Result<(), Error> {
    let mut first = true;
    for group in &table.groups {
        if !first {
            writeln!(out)?;
        }
        first = false;
        write_group(out, table, group)?;
    }
    Ok(())
}

fn write_group(out: &mut dyn Write, table: &Table, group: &RowGroup) -> Result<(), Error> {
    if !group.title.is_empty() {
        let note = if group.note.is_empty() { String::new() } else { format!(" ({})", escaped(&group.note)) };
        writeln!(out, "### {}{note}\n", escaped(&group.title))?;
    }
    let titles: Vec<String> = table.columns.iter().map(|column| escaped(&column.title)).collect();
    writeln!(out, "| {} |", titles.join(" | "))?;
    let rules: Vec<&str> =
        table.columns.iter().map(|column| if column.kind == ColumnKind::Number { "---:" } else { "---" }).collect();
    writeln!(out, "| {} |", rules.join(" | "))?;
    for row in &group.rows {
        let cells: Vec<String> = (0..table.columns.len()).map(|index| cell(row, index)).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}

fn cell(row: &TableRow, index: usize) -> String {
    let cell = row.cells.get(index).unwrap_or(&Cell::Empty);
    if let Some(quantity) = cell.quantity() {
        let digits = quantity.digits();
        let unit = format!("{}{}", unit_gap(&digits.unit), escaped(&digits.unit));
        return match cell {
            Cell::Marked(_, mark) => format!("{}{unit}{mark}", digits.value),
            Cell::Below(_) => format!("&lt; {}{unit}", digits.value),
            Cell::Interval(_) if quantity.has_interval() => {
                let note = quantity.ends_note().map(|note| format!(" {note}")).unwrap_or_default();
                format!("{} – {}{note}", digits.low, digits.high)
            }
            Cell::Interval(_) => "no error bars".to_owned(),
            _ => format!("{}{unit}", digits.value),
        };
    }
    match cell {
        Cell::Text(text, _) | Cell::Link { text, .. } | Cell::Across(text, _) | Cell::Heat { text, .. } => {
            escaped(text)
        }
        Cell::Printed(text) => escaped(text),
        Cell::Count(count) => count.to_string(),
        _ => String::new(),
    }
}

/// Text that Markdown shows unchanged: no markup, no HTML, no line break, no way out of a table cell.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            // Marks of writing direction would rearrange the text around them.
            c if is_control(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// A command as code; backticks cannot be escaped in code, so they are replaced.
fn code(command: &str) -> String {
    format!("`{}`", command.replace('`', "'").replace(is_control, " "))
}
