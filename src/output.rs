//! The only module that prints.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result};
use model::Run;
use report::{Document, Terminal};

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{columns, locale};

/// The error if standard output accepts no more.
const UNWRITTEN: &str = "could not write to standard output";

/// Draws a document on standard output in the requested format.
pub(crate) fn print(document: &Document, common: &CommonOptions) -> Result<ExitStatus> {
    let name = common.format();
    if name == "terminal" {
        let mut text = Vec::new();
        report::by_name(name, columns::width().unwrap_or(Terminal::ENDLESS), colours(&common.color))?
            .render(document, &mut text)?;
        let text = locale::shown(&String::from_utf8_lossy(&text));
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(UNWRITTEN)?;
        return Ok(ExitStatus::Fine);
    }
    write(&rendered(document, name)?)
}

/// Writes a document to a file, in HTML unless another format is requested, and says so. Without a file it prints it.
pub(crate) fn save(document: &Document, path: Option<&Path>, common: &CommonOptions) -> Result<ExitStatus> {
    let Some(path) = path else { return print(document, common) };
    let format = common.format.as_deref().unwrap_or("html");
    write_report(path, &rendered(document, format)?)
}

/// Writes the text of a report to a file, and says so.
pub(crate) fn write_report(path: &Path, text: &[u8]) -> Result<ExitStatus> {
    store::write_file(path, text).with_context(|| format!("could not write the report to {}", path.display()))?;
    let is_page = path.extension().is_some_and(|extension| extension == "html");
    let link = if is_page { format!(": {}", link(path)?) } else { String::new() };
    write(format!("Wrote {}{link}\n", path.display()).as_bytes())
}

/// The address of a file, which terminals and browsers open.
fn link(path: &Path) -> Result<String> {
    let path = std::path::absolute(path)?;
    let mut link = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => link.push(char::from(*byte)),
            _ => link.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(link)
}

/// A document in a format for files.
pub(crate) fn rendered(document: &Document, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    report::by_name(name, columns::USUAL, false)?.render(document, &mut bytes)?;
    Ok(bytes)
}

/// Prints what a command did: in words, or as data in every other format. CSV has the members of these `names`.
pub(crate) fn done(
    words: String,
    next: Vec<String>,
    (names, data): (&'static str, &serde_json::Value),
    common: &CommonOptions,
) -> Result<ExitStatus> {
    let mut document = Document::new(words);
    document.next = next;
    document.data = report::EmbeddedJson::of(data).ok();
    document.records = Some(report::Records::of(names, data));
    print(&document, common)
}

/// Refuses the global output formats if `what` has a fixed form.
pub(crate) fn only_as_it_is(what: &str, common: &CommonOptions) -> Result<()> {
    let name = common.format();
    anyhow::ensure!(name == "terminal", "could not write {what} as {name}; leave --format out");
    Ok(())
}

/// The name of a run as a part of the name of a file.
pub(crate) fn file_part(name: &str) -> String {
    let fit = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = name.chars().map(fit).take(60).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() { "run".to_owned() } else { name.to_owned() }
}

/// Draws the results of a run. As CSV it is the tidy table of its results, which `prony import` reads.
pub(crate) fn print_run(document: &Document, run: &Run, common: &CommonOptions) -> Result<ExitStatus> {
    if common.format() == "csv" { print_runs(std::slice::from_ref(run), common) } else { print(document, common) }
}

/// Writes several runs in a format for programs.
pub(crate) fn print_runs(runs: &[Run], common: &CommonOptions) -> Result<ExitStatus> {
    let format = common.format();
    anyhow::ensure!(
        ["csv", "tsv", "json"].contains(&format),
        "a page shows one run; name one, use prony compare, or write several with --format csv"
    );
    print(&report::view::several(runs), common)
}

/// Writes text to standard output; to a terminal without characters that would steer it.
pub(crate) fn write(text: &[u8]) -> Result<ExitStatus> {
    let mut out = io::stdout().lock();
    let written = match std::str::from_utf8(text) {
        Ok(text) if out.is_terminal() => out.write_all(harmless(text).as_bytes()),
        _ => out.write_all(text),
    };
    written.and_then(|()| out.flush()).context(UNWRITTEN)?;
    Ok(ExitStatus::Fine)
}

/// A text without control characters and marks of writing direction, lines apart.
fn harmless(text: &str) -> String {
    let steers = |c: char| report::words::is_control(c) && !matches!(c, '\n' | '\t');
    text.chars().map(|c| if steers(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Prints a remark that is not part of the report. A failure to write it is ignored: the report matters more.
pub(crate) fn remark(text: &str) {
    let _ = writeln!(io::stderr(), "prony: {}", locale::shown(&harmless(text)));
}

/// Prints an error in one line.
pub(crate) fn complain(error: &anyhow::Error) {
    remark(&in_one_line(error));
}

/// An error and its causes, each said once.
fn in_one_line(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Many errors repeat their cause in their own text, and some shorten it.
        let begin: String = cause.chars().take(60).collect();
        if !text.contains(&begin) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&cause);
        }
    }
    text.replace('\n', " ")
}

fn colours(when: &str) -> bool {
    match when {
        "always" => true,
        "never" => false,
        _ => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
            !refused && !dumb && io::stdout().is_terminal()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once_even_where_it_is_shortened() {
        let cause = format!("could not accept it: {}", "x".repeat(300));
        let shortened = format!("could not save it: {}...", &cause[..200]);
        let error = anyhow::anyhow!("{cause}").context(shortened.clone());
        assert_eq!(in_one_line(&error), shortened);
        assert_eq!(in_one_line(&anyhow::anyhow!("b").context("a")), "a: b");
    }

    #[test]
    fn what_steers_a_terminal_is_replaced() {
        assert_eq!(harmless("a\u{1b}[2Jb\u{202e}c\n\td\u{9b}"), "a\u{fffd}[2Jb\u{fffd}c\n\td\u{fffd}");
    }
}
