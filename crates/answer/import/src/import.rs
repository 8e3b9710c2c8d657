//! Imports the bytes of a source as runs.

use std::borrow::Cow;

use model::{Catalogue, Fact, Machine, Origin, Primitive, Run};

use crate::assemble::{Provenance, assemble, prepare};
use crate::date;
use crate::digest::sha256;
use crate::error::Error;
use crate::format::{Confidence, FORMATS, ImportFormat, Parsed, SourceText, is_document};
use crate::logged::{LoggedText, unlogged};
use crate::tagged::untagged;
use crate::text::{SourceFault, check_lines, decode, is_number, one_line, plain};
use crate::unread::{LineLedger, UnreadNumbers};

/// Bytes of a source from which its format is detected.
const HEAD: usize = 64 << 10;

/// The user's statements about a source.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportOptions<'a> {
    /// The format's name; otherwise it is detected.
    pub format: Option<&'a str>,
    /// Name of the machine that the source is of, instead of the one that it states.
    pub machine: Option<&'a str>,
    /// Model of the machine's CPU, instead of the one that it states.
    pub cpu: Option<&'a str>,
    /// Date of the measurement, `2024-05-31` or RFC 3339, instead of the one that it states.
    pub date: Option<&'a str>,
    /// Whether several outputs of one tool in the source repeat each other, so that they are samples of one result.
    pub repeats: bool,
}

/// Why a source that is recognised may state nothing.
const NO_RESULT: &str = "see whether it broke off, or other words stand before its lines: it ends before any result";

/// What a source contains.
#[derive(Debug)]
pub struct ImportedSource {
    /// The runs.
    pub runs: Vec<Run>,
    /// Unparsed numbers, by lines or by members of JSON; none for formats that are read by column names, and for XML.
    pub unread: Option<UnreadNumbers>,
    /// Sentences on what the user alone can decide: whether outputs repeat each other, and whether a number is whole.
    pub remarks: Vec<String>,
}

/// Reads a source as runs.
///
/// `name` is the path or name of the source in messages and in the runs' origin; some formats also take a benchmark's
/// name from it. Units, directions and titles come from the catalogue for the results that it knows. A source that does
/// not name its machine is of a machine of its own.
///
/// # Errors
/// When the format is unknown, the source does not follow it, or the options contradict it. The text is one line with
/// the position.
pub fn import(
    name: &str,
    bytes: &[u8],
    options: &ImportOptions<'_>,
    catalogue: &Catalogue,
) -> Result<ImportedSource, Error> {
    let started = options.date.map(read_date).transpose()?;
    let text = decode(name, bytes)?;
    if is_page(text) {
        return Err(Error::Page { source_name: name.to_owned() });
    }
    let own = own_text(text);
    let text = own.text.as_deref().unwrap_or(text);
    let format = match options.format {
        Some(wanted) => find(wanted)?,
        None => detect(name, text.as_bytes()).map_err(|error| mixed(error, &own))?,
    };
    let content = |fault: SourceFault| Error::Content {
        source_name: name.to_owned(),
        format: format.name,
        // Parsers quote their input.
        reason: one_line(&fault.reason, 300),
        place: fault.place,
    };
    if format.by_lines() {
        check_lines(text).map_err(content)?;
    }
    let source = SourceText { name, text, catalogue, ledger: LineLedger::default() };
    let parsed = format.parse(&source).map_err(content)?;
    let end = check_end(&source).map_err(content)?;
    // A format that is read by lines may have a form in JSON too, whose members count instead, and the other way round.
    let by_lines = || (format.by_lines() || source.ledger.has_any()).then(|| source.ledger.unread(text));
    let unread = source.ledger.members().or_else(by_lines);
    let digest = sha256(bytes);
    let mut remarks: Vec<String> = end.iter().cloned().collect();
    let mut runs = match parsed {
        Parsed::Runs(runs) => runs,
        Parsed::Sheets(sheets) => {
            if sheets.iter().all(|sheet| sheet.readings.is_empty()) {
                return Err(mixed(content(SourceFault::new(NO_RESULT, text.lines().count())), &own));
            }
            let notes = [unread.as_ref().and_then(UnreadNumbers::sentence), taken_off(&own), end];
            let mut runs: Vec<Run> = Vec::with_capacity(sheets.len());
            for mut sheet in sheets.into_iter().filter(|sheet| !sheet.readings.is_empty()) {
                sheet.notes.extend(notes.iter().flatten().cloned());
                let apart = prepare(&mut sheet, options.repeats);
                remarks.extend(apart.filter(|said| !remarks.contains(said)));
                let place = runs.len();
                runs.push(assemble(sheet, provenance(name, format, &digest, place), catalogue));
            }
            runs
        }
    };
    if options.machine.is_some() && has_machines(&runs) {
        return Err(Error::Machines { source_name: name.to_owned() });
    }
    let nameless = own.host.map_or_else(|| unnamed(name, &digest), |host| one_line(&host, 200));
    name_machines(&mut runs, options, &nameless, started.as_deref());
    Ok(ImportedSource { runs, unread, remarks })
}

/// What the tool itself printed: without colours, and without what others put before its lines.
fn own_text(text: &str) -> LoggedText {
    // Lines that end as they did on old systems, by carriage returns alone, are lines too.
    let ended = (text.contains('\r') && !text.contains('\n')).then(|| text.replace('\r', "\n"));
    let text = ended.as_deref().unwrap_or(text);
    let coloured = text.contains('\x1b').then(|| plain(text));
    let text = coloured.as_deref().unwrap_or(text);
    let untagged = match untagged(text) {
        Cow::Owned(untagged) => Some(untagged),
        Cow::Borrowed(_) => None,
    };
    let logged = unlogged(untagged.as_deref().unwrap_or(text));
    LoggedText { is_logged: logged.text.is_some(), text: logged.text.or(untagged).or(coloured).or(ended), ..logged }
}

/// A note on what stood around the output.
fn taken_off(own: &LoggedText) -> Option<String> {
    own.is_logged.then(|| "read without what a log puts before each line".to_owned())
}

/// The reason for an empty source, if concurrent programs wrote into it.
fn mixed(error: Error, own: &LoggedText) -> Error {
    match (error, &own.mixed) {
        (Error::Unrecognised { source_name } | Error::Content { source_name, .. }, Some((first, second, line))) => {
            Error::Mixed { source_name, first: one_line(first, 40), second: one_line(second, 40), line: *line }
        }
        (error, _) => error,
    }
}

/// Refuses a text that may end inside the last number of a table: it lacks the end of the line, and has fewer decimals
/// than the row above. Returns a note if completeness is unknown.
fn check_end(source: &SourceText<'_>) -> Result<Option<String>, SourceFault> {
    let at = source.text.lines().count();
    if !source.text.ends_with(|c: char| c.is_ascii_digit() || c == '.') || !source.ledger.has(at) {
        return Ok(None);
    }
    let mut rows = source.text.lines().rev().map(words).filter(|words| !words.is_empty());
    let (last, above) = (rows.next().unwrap_or_default(), rows.next().unwrap_or_default());
    let decimals = |row: &[&str]| {
        let number = row.last().filter(|word| is_number(word))?;
        Some(number.split_once('.').map_or(0, |(_, decimals)| decimals.len()))
    };
    match (decimals(&last), decimals(&above).filter(|_| last.len() == above.len())) {
        (Some(last), Some(above)) if last < above => {
            let reason = "the file ends inside this line, whose last number has fewer decimals than the row above; \
                        end the line if it is whole, or delete it";
            Err(SourceFault::new(reason, at))
        }
        (Some(_), None) => {
            Ok(Some("the file ends without the end of its last line: its last number may be cut off".to_owned()))
        }
        _ => Ok(None),
    }
}

/// Words of a row, whatever separates them.
fn words(line: &str) -> Vec<&str> {
    line.split(|c: char| c.is_whitespace() || ",;".contains(c)).filter(|word| !word.is_empty()).collect()
}

/// Whether a text begins as a web page does.
fn is_page(text: &str) -> bool {
    let begins = |word: &str| text.trim_start().get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    begins("<!doctype html") || begins("<html")
}

/// Whether runs state several machines.
fn has_machines(runs: &[Run]) -> bool {
    let mut stated = runs.iter().map(|run| run.machine.name.as_str()).filter(|name| !name.is_empty());
    stated.next().is_some_and(|first| stated.any(|other| other != first))
}

/// Identifies the machine of every run. Of a source that names none, parts with different CPUs are of different ones.
fn name_machines(runs: &mut [Run], options: &ImportOptions<'_>, nameless: &str, started: Option<&str>) {
    let mut processors: Vec<Vec<Fact>> = Vec::new();
    for run in runs {
        let of_processor = |fact: &&Fact| ["cpu.model", "cpu.sockets", "cpu.cores"].contains(&fact.name.as_str());
        let processor: Vec<Fact> = run.machine.facts.iter().filter(of_processor).cloned().collect();
        let place = processors.iter().position(|known| *known == processor).unwrap_or_else(|| {
            processors.push(processor);
            processors.len() - 1
        });
        let numbered = if place == 0 { nameless.to_owned() } else { format!("{nameless} #{}", place + 1) };
        identify(&mut run.machine, options, &numbered);
        if let Some(started) = started {
            started.clone_into(&mut run.session.started);
        }
    }
}

fn provenance(name: &str, format: &ImportFormat, digest: &str, place: usize) -> Provenance {
    let short = &digest[..12];
    let id = match place {
        0 => format!("{}-{short}", format.name),
        others => format!("{}-{short}-{}", format.name, others + 1),
    };
    let origin = Origin {
        tool: format.tool.to_owned(),
        version: None,
        document: Some(name.to_owned()),
        sha256: Some(digest.to_owned()),
        attribution: None,
    };
    // Versions of one program have one source.
    let source = match format.tool {
        "UnixBench" | "BYTE benchmark" => "BYTE",
        tool => tool,
    };
    Provenance { id, label: None, suite: format!("import:{}", format.name), origin, source: source.to_owned() }
}

/// A name for the machine of a source that states none: other sources must not share it.
fn unnamed(source: &str, digest: &str) -> String {
    let file = source.rsplit(['/', '\\']).next().unwrap_or(source);
    format!("unnamed ({}, {})", one_line(file, 60), &digest[..8])
}

fn identify(machine: &mut Machine, options: &ImportOptions<'_>, unnamed: &str) {
    if let Some(name) = options.machine {
        one_line(name.trim(), 200).clone_into(&mut machine.name);
    } else if machine.name.is_empty() && machine.fingerprint.is_empty() {
        unnamed.clone_into(&mut machine.name);
    }
    if let Some(cpu) = options.cpu {
        machine.facts.retain(|fact| fact.name != "cpu.model");
        machine.facts.push(Fact::new("cpu.model", one_line(cpu.trim(), 200), "import --cpu", &[Primitive::CoreClock]));
    }
}

fn read_date(text: &str) -> Result<String, Error> {
    let started = date::iso(text);
    if started.is_empty() { Err(Error::Date { text: one_line(text, 60) }) } else { Ok(started) }
}

/// Detects the format from the content.
///
/// # Errors
/// When there is no content, or if no format or more than one recognises it.
pub fn detect(name: &str, bytes: &[u8]) -> Result<&'static ImportFormat, Error> {
    let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if body.trim_ascii().is_empty() {
        return Err(Error::Empty { source_name: name.to_owned() });
    }
    if is_document(body) {
        return find("prony");
    }
    let head = &body[..body.len().min(HEAD)];
    let rated: Vec<(Confidence, &'static ImportFormat)> =
        FORMATS.iter().map(|format| (format.detect(head), format)).collect();
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
pub fn formats() -> &'static [ImportFormat] {
    &FORMATS
}

fn find(name: &str) -> Result<&'static ImportFormat, Error> {
    let known = || FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let found = FORMATS.iter().find(|format| format.name == name);
    found.ok_or_else(|| Error::Format { name: name.to_owned(), known: known() })
}
