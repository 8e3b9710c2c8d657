//! The Phoronix Test Suite's composite.xml, and its results as JSON: every trial of every test, for one system or
//! several.

mod json;

use std::collections::{BTreeSet, HashMap};

use model::{Better, Fact, Metric, Parameters, Primitive, Unit};
use quick_xml::Reader;
use quick_xml::events::Event;

use super::{CodeFormat, Parsed, SourceText, sure};
use crate::date::iso;
use crate::error::SourcePosition;
use crate::json::{BoundedMap, Scalar, read};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, metric, number as fact, text};
use crate::text::{
    MOST_ITEMS, MOST_NAMES, SourceFault, first_number, half_digit, name_value, number, parameter_value, snake,
};

pub(super) static FORMAT: CodeFormat = CodeFormat {
    name: "phoronix",
    tool: "Phoronix Test Suite",
    about: "composite.xml, or result-file-to-json: each test with its trials as samples; one run a system",
    by_lines: false,
    detect: |head| {
        let xml = sure(head, &["<PhoronixTestSuite", "<Result>"]).max(sure(head, &["<PhoronixTestSuite", "<System>"]));
        xml.max(sure(head, &["\"systems\"", "\"hardware\"", "\"client_version\""]))
    },
    parse,
};

/// Largest depth of elements; the format has five levels.
const DEEPEST: usize = 64;

/// Texts of an element's children, by name.
type ElementTexts = HashMap<String, String>;

/// What was read so far.
#[derive(Default)]
struct Composite {
    system: ElementTexts,
    result: ElementTexts,
    entry: ElementTexts,
    sheets: Vec<(String, SourceSheet)>,
    results: usize,
    /// Units of what was read, by system and result: tests state several quantities under one description.
    units: HashMap<(String, String, Parameters), String>,
    /// Elements with a number that no rule reads, by the names of their parents.
    unread: BTreeSet<String>,
}

impl Composite {
    /// Takes the text of an element that ended inside of `path`.
    fn take(&mut self, path: &[String], name: String, value: String) -> Result<(), String> {
        let parent = path.last().map(String::as_str);
        if number(&value).is_some() && !is_read(parent, &name) && self.unread.len() < MOST_NAMES {
            self.unread.insert(format!("{}.{name}", path.join(".")));
        }
        match parent {
            Some("System") => drop(self.system.insert(name, value)),
            Some("Result") if name != "Data" => drop(self.result.insert(name, value)),
            Some("Entry") => drop(self.entry.insert(name, value)),
            Some("Data") if name == "Entry" => {
                let entry = std::mem::take(&mut self.entry);
                self.results += 1;
                if self.results > MOST_ITEMS {
                    return Err(format!("it has more than {MOST_ITEMS} results"));
                }
                self.add(&entry)?;
            }
            Some("PhoronixTestSuite") if name == "Result" => self.result.clear(),
            Some("PhoronixTestSuite") if name == "System" => {
                let system = std::mem::take(&mut self.system);
                let get = |name: &str| system.get(name).map_or("", String::as_str);
                let pairs = [get("Hardware"), get("Software")].into_iter().flat_map(|words| words.split(", "));
                let pairs = pairs.filter_map(|pair| pair.split_once(": "));
                let facts = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
                // Beside the names stand settings of the kernel and of the compilers, as JSON.
                let settings: BoundedMap<Scalar> = read(get("JSON")).unwrap_or_default();
                let settings = settings.0.iter().map(|(name, value)| (name.clone(), value.words())).collect();
                describe(&mut self.sheets, &system, facts, &settings)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds one result of one system.
    fn add(&mut self, entry: &ElementTexts) -> Result<(), String> {
        let get = |words: &ElementTexts, name: &str| words.get(name).cloned().unwrap_or_default();
        let (value, system) = (get(entry, "Value"), get(entry, "Identifier"));
        if value.is_empty() {
            // A failed trial has no value.
            return Ok(());
        }
        let result = &self.result;
        let test = get(result, "Identifier");
        // What its sensors recorded, and what an installation took, stands beside a test without an identifier.
        if test.is_empty() || value.contains(',') || get(result, "DisplayFormat").contains("PASS") {
            let title = [get(result, "Title"), get(result, "Description")].join(": ");
            let title = parameter_value(title.trim_matches([':', ' ']));
            let sheet = sheet_of(&mut self.sheets, &system)?;
            sheet
                .notes
                .push(format!("'{title}' is a record of sensors, of an installation or a check, and is not read"));
            sheet.notes.dedup();
            return Ok(());
        }
        let unusable =
            || format!("the value '{}' of {} is not a usable number", parameter_value(&value), parameter_value(&test));
        let scale = get(result, "Scale");
        let usable = number(&value).ok_or_else(unusable)?;
        let mut reading = reading(result, &test, (&value, usable), &get(entry, "RawString"), &scale);
        let key = (system.clone(), reading.id.clone(), reading.parameters.clone());
        if self.units.entry(key).or_insert_with(|| scale.clone()) != &scale {
            reading = reading.at("unit", parameter_value(&scale));
        }
        sheet_of(&mut self.sheets, &system)?.readings.push(reading);
        Ok(())
    }
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let composite = if source.text.trim_start().starts_with('{') { json::read(source)? } else { xml(source)? };
    Ok(Parsed::Sheets(composite.sheets.into_iter().map(|(_, sheet)| sheet).collect()))
}

fn xml(source: &SourceText<'_>) -> Result<Composite, SourceFault> {
    let mut reader = Reader::from_str(source.text);
    let mut path: Vec<String> = Vec::new();
    let mut words = String::new();
    let mut composite = Composite::default();
    loop {
        let before = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let fault = |reason: String| SourceFault { reason, place: place(source.text, before) };
        match reader.read_event().map_err(|error| fault(error.to_string()))? {
            Event::Start(start) => {
                if path.len() == DEEPEST {
                    return Err(fault(format!("elements nest deeper than {DEEPEST}")));
                }
                path.push(start.name().as_ref().to_owned());
                words.clear();
            }
            Event::Text(part) => words.push_str(&part),
            Event::CData(part) => words.push_str(&part),
            Event::GeneralRef(name) => {
                words.push(character(&name).ok_or_else(|| fault("an unknown entity".to_owned()))?);
            }
            Event::End(_) => {
                let name = path.pop().unwrap_or_default();
                let value = std::mem::take(&mut words).trim().to_owned();
                composite.take(&path, name, value).map_err(fault)?;
            }
            Event::Eof if path.is_empty() => break,
            Event::Eof => return Err(fault(format!("it ends inside <{}>", parameter_value(&path[path.len() - 1])))),
            _ => {}
        }
    }
    source.ledger.skipped(composite.unread.len(), composite.unread.first().cloned());
    Ok(composite)
}

/// Whether an element is read, or names what is read.
fn is_read(parent: Option<&str>, name: &str) -> bool {
    match parent {
        // Names, versions and dates of the system.
        Some("System") => true,
        Some("Result") => {
            ["Identifier", "Title", "AppVersion", "Description", "Scale", "Proportion", "DisplayFormat"].contains(&name)
        }
        Some("Entry") => ["Identifier", "Value", "RawString"].contains(&name),
        _ => false,
    }
}

fn place(text: &str, byte: usize) -> SourcePosition {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    SourcePosition { line: memchr::memchr_iter(b'\n', before).count() + 1, column: before.len() - start + 1 }
}

/// The five entities of XML and characters by number; entities defined in documents are not expanded.
fn character(name: &quick_xml::events::BytesRef<'_>) -> Option<char> {
    match name.resolve_char_ref() {
        Ok(Some(character)) => Some(character),
        Ok(None) => match name.as_ref() {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => None,
        },
        Err(_) => None,
    }
}

fn sheet_of<'a>(sheets: &'a mut Vec<(String, SourceSheet)>, name: &str) -> Result<&'a mut SourceSheet, String> {
    let at = match sheets.iter().position(|(known, _)| known == name) {
        Some(at) => at,
        None if sheets.len() == MOST_NAMES => return Err(format!("it has more than {MOST_NAMES} systems")),
        None => {
            sheets.push((name.to_owned(), SourceSheet { machine: name_value(name), ..SourceSheet::default() }));
            sheets.len() - 1
        }
    };
    Ok(&mut sheets[at].1)
}

/// Adds what is said of a system: its names and dates, its parts, and settings of its kernel.
fn describe(
    sheets: &mut Vec<(String, SourceSheet)>,
    system: &ElementTexts,
    parts: Vec<(String, String)>,
    settings: &ElementTexts,
) -> Result<(), String> {
    let get = |name: &str| system.get(name).map_or("", String::as_str);
    let sheet = sheet_of(sheets, get("Identifier"))?;
    sheet.started = iso(get("TimeStamp"));
    let version = get("TestClientVersion");
    sheet.version = Some(version.to_owned()).filter(|version| !version.is_empty());
    for (name, value) in parts {
        let fact = match name.as_str() {
            "Processor" => "cpu.model",
            "Memory" => "memory.kind",
            "Motherboard" => "board.model",
            "Disk" => "disk.system.model",
            "OS" => "os.name",
            "Kernel" => "kernel.release",
            "Compiler" => "compiler",
            "File-System" => "file_system.type",
            "System Layer" => "virtual.hypervisor",
            _ => continue,
        };
        sheet.facts.extend(text(fact, &value, "results", &[]));
        if fact == "cpu.model" {
            sheet.facts.extend(counts(&value));
        }
    }
    let setting = |name: &str| settings.get(name).map_or("", String::as_str);
    sheet.facts.extend(text("cpu.governor", setting("cpu-scaling-governor"), "results", &[Primitive::CoreClock]));
    let variables = setting("environment-variables");
    if !variables.is_empty() {
        sheet.notes.push(format!("compiled with {}", name_value(variables)));
    }
    Ok(())
}

/// How many processors, cores and threads: `2 x Example CPU @ 2.60GHz (12 Cores / 24 Threads)`.
fn counts(processor: &str) -> Vec<Fact> {
    let count = |name: &str, value: Option<f64>| value.map(|value| fact(name, value, "1", "results", &[]));
    let inside = processor.rsplit_once('(').map_or("", |(_, inside)| inside.trim_end_matches(')'));
    let of = |word: &str| inside.split('/').find(|part| part.contains(word)).and_then(first_number);
    let sockets = processor.split_once(" x ").and_then(|(count, _)| number(count));
    let (cores, threads) = (of("Core"), of("Thread"));
    let counts = [count("cpu.sockets", sockets), count("cpu.cores", cores), count("cpu.count", threads.or(cores))];
    counts.into_iter().flatten().collect()
}

/// The result of a value, given as printed and as a number.
fn reading(
    result: &ElementTexts,
    test: &str,
    (printed, value): (&str, f64),
    trials: &str,
    scale: &str,
) -> SourceReading {
    let get = |name: &str| result.get(name).map_or("", String::as_str);
    let better = match get("Proportion") {
        "LIB" => Some(Better::Lower),
        "HIB" => Some(Better::Higher),
        // Profiles of old versions state none: then it is that of the unit.
        _ => None,
    };
    let (scale, unit) = unit(scale, better);
    // Trailing zeros are not printed: the trial with most digits tells how many there are.
    let half = trials.split(':').filter(|trial| number(trial).is_some()).map(half_digit).reduce(f64::min);
    let half = half.unwrap_or_else(|| half_digit(printed));
    let trials: Vec<f64> = trials.split(':').filter_map(number).map(|trial| trial * scale).collect();
    let bare = test.rsplit('/').next().unwrap_or_default();
    let bare = bare.rsplit_once('-').map_or(bare, |(name, version)| {
        if number(version).is_some() || version.matches('.').count() == 2 { name } else { bare }
    });
    let mut reading = SourceReading::new(format!("phoronix.{}", snake(bare)), get("Title"), value * scale, unit);
    // Another version of the program is another test, as it is for Phoronix itself.
    for (parameter, name) in [("test", "Description"), ("version", "AppVersion")] {
        if !get(name).is_empty() {
            reading = reading.at(parameter, parameter_value(get(name)));
        }
    }
    reading = reading.rounded(half / value.abs());
    // A single trial has no spread.
    let spread = if trials.len() > 1 { SourceSpread::Samples(trials) } else { SourceSpread::None };
    reading.spread(spread)
}

/// The scale and metric of a unit; where the direction is not stated, times, power and energy should be low.
fn unit(scale: &str, better: Option<Better>) -> (f64, Metric) {
    let low = better.unwrap_or(Better::Lower);
    let high = better.unwrap_or(Better::Higher);
    match scale {
        "Seconds" | "sec" => (1.0, metric(Unit::Seconds, "execution", low)),
        "Minutes" => (60.0, metric(Unit::Seconds, "execution", low)),
        "Milliseconds" => (1e-3, metric(Unit::Seconds, "execution", low)),
        "Microseconds" => (1e-6, metric(Unit::Seconds, "execution", low)),
        "Nanoseconds" => (1e-9, metric(Unit::Seconds, "execution", low)),
        "Watts" => (1.0, metric(Unit::Watts, "system", low)),
        "Joules" => (1.0, metric(Unit::Joules, "execution", low)),
        "Mflops" | "MFLOPS" => (1e6, metric(Unit::PerSecond, "floating-point operations", high)),
        "GFLOPS" | "Gflops" => (1e9, metric(Unit::PerSecond, "floating-point operations", high)),
        _ => {
            if let Some(what) = scale.strip_suffix(" Per Second") {
                return (1.0, metric(Unit::PerSecond, what, high));
            }
            // Of ratios and counts, only the source's word is known.
            let known = crate::units::unit(scale)
                .filter(|known| [Unit::Seconds, Unit::BytesPerSecond, Unit::PerSecond].contains(&known.unit));
            match known {
                Some(known) if known.unit == Unit::Seconds => (known.scale, metric(known.unit, "execution", low)),
                Some(known) => (known.scale, metric(known.unit, &known.per, high)),
                None if scale.ends_with("/s") => (1.0, metric(Unit::PerSecond, scale, high)),
                None => (1.0, metric(Unit::Count, scale, high)),
            }
        }
    }
}
