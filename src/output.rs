//! The only module that prints.

use std::io::{self, IsTerminal, Write};

use anyhow::Result;
use model::Run;
use report::Document;

use crate::cli::CommonOptions;

/// Columns if the width of the terminal is unknown.
const WIDTH: usize = 100;

/// Draws a document on standard output in the requested format.
pub(crate) fn print(document: &Document, common: &CommonOptions) -> Result<()> {
    let format = if common.json { "json" } else { &common.format };
    let width = terminal_size::terminal_size().map_or(WIDTH, |(width, _)| usize::from(width.0).clamp(60, WIDTH));
    let format = report::by_name(format, width, colours(&common.color))?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    format.render(document, &mut out)?;
    out.flush()?;
    Ok(())
}

/// Draws the results of a run. As CSV it is the tidy table of its figures, which `prony import` reads.
pub(crate) fn print_run(document: &Document, run: &Run, common: &CommonOptions) -> Result<()> {
    if common.format == "csv" && !common.json {
        print_runs(std::slice::from_ref(run), common)
    } else {
        print(document, common)
    }
}

/// Writes several runs in a format for many runs.
pub(crate) fn print_runs(runs: &[Run], common: &CommonOptions) -> Result<()> {
    let format = if common.json { "json" } else { &common.format };
    anyhow::ensure!(
        format != "terminal",
        "a screen shows one run; name one, set them side by side with prony compare, or write them with --format csv"
    );
    let mut out = io::BufWriter::new(io::stdout().lock());
    export::export(runs, format, &mut out)?;
    out.flush()?;
    Ok(())
}

/// Writes plain text to standard output.
pub(crate) fn write(text: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text)?;
    out.flush()?;
    Ok(())
}

/// Prints a remark that is not part of the report.
#[expect(clippy::print_stderr, reason = "this is where the program speaks to a person")]
pub(crate) fn remark(text: &str) {
    eprintln!("prony: {text}");
}

/// Prints an error in one line.
pub(crate) fn complain(error: &anyhow::Error) {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Many errors repeat their cause in their own text.
        if !text.contains(&cause) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&cause);
        }
    }
    remark(&text.replace('\n', " "));
}

fn colours(when: &str) -> bool {
    match when {
        "always" => true,
        "never" => false,
        _ => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !refused && io::stdout().is_terminal()
        }
    }
}

/// Whether the reader of standard output has ended, which is not a failure.
pub(crate) fn is_closed(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>().or(match cause.downcast_ref::<report::Error>() {
            Some(report::Error::Write(error)) => Some(error),
            _ => None,
        });
        io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
