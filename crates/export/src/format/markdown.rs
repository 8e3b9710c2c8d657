//! A Markdown table: one row for each figure, one column for each run, and an explanation of the intervals.

use std::io::Write;

use model::{Estimate, EstimateMethod, Figure, FigureKey, Outcome, Run, percent};

use crate::{Error, quantity};

pub(super) fn write(runs: &[Run], out: &mut dyn Write) -> Result<(), Error> {
    let mut header = "| figure |".to_owned();
    let mut ruler = "|---|".to_owned();
    for run in runs {
        header.push_str(&format!(" {} |", cell(run.name())));
        ruler.push_str("---:|");
    }
    writeln!(out, "{header}\n{ruler}")?;
    for key in keys(runs) {
        let title = runs.iter().find_map(|run| run.figure(&key)).map_or("", |figure| figure.title.as_str());
        let mut row = format!("| {} {} |", cell(title), code(&key.to_string()));
        for run in runs {
            row.push_str(&format!(" {} |", run.figure(&key).map_or_else(String::new, |figure| cell(&outcome(figure)))));
        }
        writeln!(out, "{row}")?;
    }
    writeln!(out)?;
    for run in runs {
        writeln!(out, "- {}: {}", cell(run.name()), cell(&from(run)))?;
    }
    writeln!(
        out,
        "\nIn brackets: the 95% interval over launches, or [least .. greatest] of a few executions; a value without \
         brackets has no known spread and supports no claim of a difference."
    )?;
    Ok(())
}

/// Keys of the figures of all runs, in the order of the runs.
fn keys(runs: &[Run]) -> Vec<FigureKey> {
    let mut seen = std::collections::HashSet::new();
    runs.iter().flat_map(|run| &run.figures).map(Figure::key).filter(|key| seen.insert(key.clone())).collect()
}

fn outcome(figure: &Figure) -> String {
    match &figure.outcome {
        Outcome::Measured(estimate) => measured(figure, estimate),
        Outcome::Below { bound } => format!("< {}", quantity(*bound, &figure.metric)),
        Outcome::Modes(modes) => {
            let mode = |mode: &model::Mode| {
                format!("{} ({})", quantity(mode.estimate.value, &figure.metric), percent(mode.share))
            };
            modes.iter().map(mode).collect::<Vec<_>>().join(" and ")
        }
        Outcome::Unfit(reason) => format!("not measured: {reason}"),
        Outcome::Failed(reason) => format!("failed: {reason}"),
    }
}

fn measured(figure: &Figure, estimate: &Estimate) -> String {
    let words = |value| quantity(value, &figure.metric);
    let value = words(estimate.value);
    let flags: Vec<&str> = figure.flags.iter().map(|flag| flag.about()).collect();
    let flags = if flags.is_empty() { String::new() } else { format!(", {}", flags.join(", ")) };
    let bounds = match estimate.method {
        EstimateMethod::None => String::new(),
        _ if estimate.is_range() => format!(" [{} .. {}]", words(estimate.low), words(estimate.high)),
        _ => format!(" ({} .. {}{})", words(estimate.low), words(estimate.high), level(estimate.level)),
    };
    format!("{value}{bounds}{flags}")
}

/// The level, if it is below the usual one.
fn level(level: f64) -> String {
    if level >= 0.95 - 1e-9 { String::new() } else { format!(" at {:.0}%", (100.0 * level + 1e-9).floor()) }
}

/// Origin of a run, with its attribution.
fn from(run: &Run) -> String {
    let machine = if run.machine.summary.is_empty() { &run.machine.name } else { &run.machine.summary };
    let origin = match &run.origin {
        Some(origin) => match &origin.attribution {
            Some(attribution) => format!("from {attribution}"),
            None => {
                let version = origin.version.as_deref().map_or(String::new(), |version| format!(" {version}"));
                let document = origin.document.as_deref().map_or(String::new(), |document| format!(", {document}"));
                format!("by {}{version}{document}", origin.tool)
            }
        },
        None => format!("measured {}", run.session.started),
    };
    [machine.as_str(), &origin].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Text that is safe in a table's cell, and that Markdown shows as it is.
fn cell(text: &str) -> String {
    let mut before = ' ';
    text.chars().fold(String::new(), |mut cell, c| {
        match c {
            // Only what follows a bracket makes it a link.
            '(' if before == ']' => cell.push_str("\\("),
            '\\' | '`' | '*' | '_' | '|' | '~' => {
                cell.push('\\');
                cell.push(c);
            }
            c if c.is_control() => cell.push(' '),
            '<' => cell.push_str("&lt;"),
            '&' => cell.push_str("&amp;"),
            c => cell.push(c),
        }
        before = c;
        cell
    })
}

/// Text as code in a table's cell: nothing is escaped in code but the bar that ends a cell, and a backtick would end
/// the code.
fn code(text: &str) -> String {
    format!("`{}`", text.replace(char::is_control, " ").replace('`', "'").replace('|', "\\|"))
}
