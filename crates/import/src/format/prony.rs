//! Run documents of this program: one, a list of them, or one on each line.

use serde_json::value::RawValue;

use super::{Confidence, ImportFormat, Parsed, SourceText};
use crate::error::SourcePosition;
use crate::json::{self, List};
use crate::text::SourceFault;

pub(super) static FORMAT: ImportFormat = ImportFormat {
    name: "prony",
    tool: "Prony",
    about: "run documents as Prony writes them, with everything in them: one, a list, or one a line",
    by_lines: false,
    detect,
    parse,
};

fn detect(head: &[u8]) -> Confidence {
    let start: Vec<u8> = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(24).collect();
    let opens = start.starts_with(b"{\"schema\":") || start.starts_with(b"[{\"schema\":");
    if opens || start == b"[]" { Confidence::Certain } else { Confidence::No }
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let text = source.text;
    let runs = if text.trim_start().starts_with('[') {
        let documents: List<Box<RawValue>> = json::read(text)?;
        let parsed = documents.0.iter().enumerate().map(|(at, document)| {
            // The position is counted inside the document, whose number is part of the reason.
            run(document.get(), 0)
                .map_err(|fault| SourceFault { reason: format!("document {}: {}", at + 1, fault.reason), ..fault })
        });
        parsed.collect::<Result<_, _>>()?
    } else {
        match run(text, 0) {
            Ok(run) => vec![run],
            Err(whole) => by_line(text).ok_or(whole)??,
        }
    };
    Ok(Parsed::Runs(runs))
}

/// One document on each line, if the first line is a document by itself.
fn by_line(text: &str) -> Option<Result<Vec<model::Run>, SourceFault>> {
    let documents: Vec<(usize, &str)> = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
    let many = documents.len() > 1 && run(documents[0].1, 0).is_ok();
    many.then(|| documents.iter().map(|(at, line)| run(line, *at)).collect())
}

fn run(document: &str, lines_before: usize) -> Result<model::Run, SourceFault> {
    model::parse_run(document).map_err(|error| match error {
        model::Error::Document { reason, place } => {
            SourceFault { reason, place: SourcePosition { line: place.line + lines_before, column: place.column } }
        }
        other => SourceFault::new(other.to_string().replace("could not ", "cannot "), lines_before + 1),
    })
}
