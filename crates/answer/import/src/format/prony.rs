//! Run documents of this program: one, a list of them, or one on each line.

use serde_json::value::RawValue;

use super::{CodeFormat, Confidence, Parsed, SourceText};
use crate::error::SourcePosition;
use crate::json;
use crate::text::SourceFault;

pub(super) static FORMAT: CodeFormat = CodeFormat {
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

/// Members of a run document, of which `schema` comes last where a program sorted them.
const MEMBERS: [&[u8]; 10] =
    [b"schema", b"id", b"label", b"origin", b"machine", b"session", b"plan", b"rules", b"results", b"quality"];

/// Members that a document has beside its schema, and other formats rarely.
const OWN: [&[u8]; 2] = [b"plan", b"results"];

/// Whether the first object of a source is a run document whose members have another order than Prony's: it has a
/// number as its `schema`, one of [`OWN`], and until there only [`MEMBERS`]. Only the outermost names are looked at,
/// and the first that is no member ends it.
pub(crate) fn is_document(body: &[u8]) -> bool {
    let Some(mut at) = opening(body) else { return false };
    let (mut depth, mut named, mut schema, mut own) = (0_usize, false, false, false);
    while let Some(byte) = body.get(at) {
        match byte {
            b'"' => {
                let Some(end) = text_end(body, at) else { return false };
                if depth == 1 && !named {
                    let name = &body[at + 1..end];
                    if !MEMBERS.contains(&name) || (name == b"schema" && !is_count(&body[end + 1..])) {
                        return false;
                    }
                    schema |= name == b"schema";
                    own |= OWN.contains(&name);
                    named = true;
                }
                at = end;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b',' if depth == 1 => named = false,
            _ => {}
        }
        if schema && own || depth == 0 {
            break;
        }
        at += 1;
    }
    schema && own
}

/// Where the first object of a document or of a list of documents begins.
fn opening(body: &[u8]) -> Option<usize> {
    let mut places = (0..body.len()).filter(|at| !body[*at].is_ascii_whitespace());
    let first = places.next()?;
    let at = if body[first] == b'[' { places.next()? } else { first };
    (body[at] == b'{').then_some(at)
}

/// Where the text that begins at a quote ends.
fn text_end(body: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', body.get(at..)?)?;
        if body[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// Whether a colon and a whole number follow.
fn is_count(rest: &[u8]) -> bool {
    let mut bytes = rest.iter().filter(|byte| !byte.is_ascii_whitespace());
    bytes.next() == Some(&b':') && bytes.next().is_some_and(u8::is_ascii_digit)
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let text = source.text;
    let runs = if text.trim_start().starts_with('[') {
        let documents: Vec<Box<RawValue>> = json::read(text)?;
        let parsed = documents.iter().enumerate().map(|(at, document)| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_known_by_their_outermost_members_in_any_order() {
        for text in [
            r#"{"results":[{"schema":"x","}":"\""}],"id":"r","schema":1}"#,
            " [ {\"plan\": {\"id\": 2},\n \"schema\" : 1, \"later\": 3}, 7]",
            r#"{"schema":1,"results":[]"#,
        ] {
            assert!(is_document(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "[",
            "{",
            r#"{"id":"r","schema":1}"#,
            r#"{"results":[{"schema":1}],"id":"r"}"#,
            r#"{"results":[],"schema":"http://x"}"#,
            r#"{"results":[],"benchmarks":[],"schema":1}"#,
            r#"{"results":["\"#,
            r#"["results",1,"schema",1]"#,
            r#"{"id":{}}{"results":[],"schema":1}"#,
        ] {
            assert!(!is_document(text.as_bytes()), "{text}");
        }
    }
}
