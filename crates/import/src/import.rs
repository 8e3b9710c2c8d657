//! Imports the bytes of a source as runs.

use model::{Catalogue, Origin, Run};

use crate::assemble::{Provenance, assemble};
use crate::digest::sha256;
use crate::error::Error;
use crate::format::{Confidence, FORMATS, ImportFormat, Parsed, SourceText};
use crate::text::{MOST_LINES, SourceFault, decode, one_line};

/// Bytes of a source from which its format is detected.
const HEAD: usize = 64 << 10;

/// Reads a source as runs.
///
/// `name` is the path or name of the source in messages and in the runs' origin; some formats also take a benchmark's
/// name from it. `from` names the format; otherwise it is detected. Units, directions and titles come from the
/// catalogue for the figures that it knows.
///
/// # Errors
/// When the format is unknown or the source does not follow it; the text is one line with the position.
pub fn import(name: &str, bytes: &[u8], from: Option<&str>, catalogue: &Catalogue) -> Result<Vec<Run>, Error> {
    let text = decode(name, bytes)?;
    let format = match from {
        Some(wanted) => find(wanted)?,
        None => detect(name, bytes)?,
    };
    let content = |fault: SourceFault| Error::Content {
        source_name: name.to_owned(),
        format: format.name,
        // Parsers quote their input.
        reason: one_line(&fault.reason, 300),
        place: fault.place,
    };
    if format.by_lines && memchr::memchr_iter(b'\n', text.as_bytes()).nth(MOST_LINES).is_some() {
        return Err(content(SourceFault::new(format!("it has more than {MOST_LINES} lines"), MOST_LINES + 1)));
    }
    let sheets = match (format.parse)(&SourceText { name, text }).map_err(content)? {
        Parsed::Runs(runs) => return Ok(runs),
        Parsed::Sheets(sheets) => sheets,
    };
    if sheets.iter().all(|sheet| sheet.readings.is_empty()) {
        return Err(content(SourceFault::new("it ends before any figure", text.lines().count())));
    }
    let digest = sha256(bytes);
    let mut runs: Vec<Run> = Vec::with_capacity(sheets.len());
    for sheet in sheets.into_iter().filter(|sheet| !sheet.readings.is_empty()) {
        let short = &digest[..12];
        let id = match runs.len() {
            0 => format!("{}-{short}", format.name),
            others => format!("{}-{short}-{}", format.name, others + 1),
        };
        let origin = Origin {
            tool: format.tool.to_owned(),
            version: None,
            document: Some(name.to_owned()),
            sha256: Some(digest.clone()),
            attribution: None,
        };
        let suite = format!("import:{}", format.name);
        runs.push(assemble(sheet, Provenance { id, label: None, suite, origin }, catalogue));
    }
    Ok(runs)
}

/// Detects the format from the content.
///
/// # Errors
/// When no format, or more than one, recognises the content.
pub fn detect(name: &str, bytes: &[u8]) -> Result<&'static ImportFormat, Error> {
    let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let head = &body[..body.len().min(HEAD)];
    let rated: Vec<(Confidence, &'static ImportFormat)> =
        FORMATS.iter().map(|format| ((format.detect)(head), *format)).collect();
    let best = rated.iter().map(|(confidence, _)| *confidence).max().unwrap_or(Confidence::No);
    let mut found = rated.iter().filter(|(confidence, _)| *confidence == best).map(|(_, format)| *format);
    match (best, found.next(), found.next()) {
        (Confidence::No, ..) | (_, None, _) => Err(Error::Unrecognised { source_name: name.to_owned() }),
        (_, Some(format), None) => Ok(format),
        (_, Some(first), Some(second)) => {
            let names: Vec<&str> = [first.name, second.name].into_iter().chain(found.map(|more| more.name)).collect();
            Err(Error::Ambiguous { source_name: name.to_owned(), formats: names.join(" and ") })
        }
    }
}

/// Every format, sorted by name.
#[must_use]
pub fn formats() -> &'static [&'static ImportFormat] {
    FORMATS
}

fn find(name: &str) -> Result<&'static ImportFormat, Error> {
    let known = || FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let found = FORMATS.iter().find(|format| format.name == name).copied();
    found.ok_or_else(|| Error::Format { name: name.to_owned(), known: known() })
}
