//! The JSON of memtier_benchmark, which `--json-out-file` writes: the settings, and a section for each part of the
//! runs.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};

use super::{OtherForm, Parsed, SourceText};
use crate::date::unix;
use crate::format::sure;
use crate::json::{self, BoundedMap, Scalar};
use crate::sheet::{SourceReading, SourceSheet, bytes_per_second, rate, seconds};
use crate::text::{SourceFault, number, parameter_value, shown, usable};

pub(super) const FORM: OtherForm =
    OtherForm { name: "memtier", detect: |head| sure(head, &["\"Ops/sec\"", "\"Misses/sec\"", "\"KB/sec\""]), parse };

/// Bytes of its KB.
const KILOBYTE: f64 = 1024.0;

/// Sections by their titles: two with settings, the others with results.
type MemtierDocument = BoundedMap<BoundedMap<MemtierMember>>;

/// A member of a section: a setting, the results of one kind of requests, or a list with the shares below each latency.
enum MemtierMember {
    Setting(Scalar),
    Results(Box<MemtierResults>),
    Shares,
}

/// Rates a second, latencies in milliseconds; KB are 1024 bytes. The first three are what tells such results.
#[derive(Deserialize, Default)]
struct MemtierResults {
    #[serde(rename = "Ops/sec")]
    operations: Option<f64>,
    #[serde(rename = "Hits/sec")]
    hits: Option<f64>,
    #[serde(rename = "Misses/sec")]
    misses: Option<f64>,
    /// Before version 2, the average with two decimals.
    #[serde(rename = "Latency")]
    latency: Option<f64>,
    /// The average with three decimals.
    #[serde(rename = "Average Latency")]
    average: Option<f64>,
    #[serde(rename = "KB/sec")]
    data: Option<f64>,
    #[serde(rename = "Percentile Latencies", default)]
    percentiles: BoundedMap<Scalar>,
    #[serde(rename = "Connection Errors")]
    errors: Option<f64>,
    /// Of the section's duration: milliseconds since 1970.
    #[serde(rename = "Start time")]
    started: Option<f64>,
    #[serde(rename = "Time unit")]
    unit: Option<String>,
    #[serde(rename = "Interrupted")]
    interrupted: Option<String>,
}

impl<'de> Deserialize<'de> for MemtierMember {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MemtierVisitor;
        impl<'de> Visitor<'de> for MemtierVisitor {
            type Value = MemtierMember;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a setting or results")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MemtierMember, A::Error> {
                let results = MemtierResults::deserialize(MapAccessDeserializer::new(map))?;
                Ok(MemtierMember::Results(Box::new(results)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<MemtierMember, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(MemtierMember::Shares)
            }
            fn visit_bool<E>(self, value: bool) -> Result<MemtierMember, E> {
                Ok(MemtierMember::Setting(Scalar::Truth(value)))
            }
            fn visit_f64<E>(self, value: f64) -> Result<MemtierMember, E> {
                Ok(MemtierMember::Setting(if usable(value) { Scalar::Number(value) } else { Scalar::None }))
            }
            fn visit_i64<E>(self, value: i64) -> Result<MemtierMember, E> {
                Ok(MemtierMember::Setting(Scalar::Number(value as f64)))
            }
            fn visit_u64<E>(self, value: u64) -> Result<MemtierMember, E> {
                Ok(MemtierMember::Setting(Scalar::Number(value as f64)))
            }
            fn visit_str<E>(self, value: &str) -> Result<MemtierMember, E> {
                Ok(MemtierMember::Setting(Scalar::Text(value.to_owned())))
            }
            fn visit_unit<E>(self) -> Result<MemtierMember, E> {
                Ok(MemtierMember::Setting(Scalar::None))
            }
        }
        deserializer.deserialize_any(MemtierVisitor)
    }
}

fn parse(source: &SourceText<'_>) -> Result<Parsed, SourceFault> {
    let mut sheet = SourceSheet::default();
    for (before, text) in documents(source.text) {
        let document: MemtierDocument = json::read_document((before, text), &source.ledger)?;
        sheet.begin_process();
        let parameters = settings(&document);
        for (title, kind, results) in results_of(&document) {
            if kind == "Runtime" {
                runtime(&mut sheet, results);
            } else if let Some(readings) = readings(results) {
                let of = part(title).ok_or_else(|| {
                    SourceFault::new(format!("its section '{}' is not known", shown(title)), before + 1)
                })?;
                sheet.readings.extend(placed(readings, kind, &parameters, of, share(results)));
            }
        }
    }
    Ok(Parsed::Sheets(vec![sheet]))
}

/// The documents of a source, each with the number of lines before it. Only their first brackets stand at the beginning
/// of a line: the last ones are indented.
fn documents(text: &str) -> Vec<(usize, &str)> {
    let (mut starts, mut at) = (Vec::new(), 0);
    for (line, content) in text.split_inclusive('\n').enumerate() {
        if content.starts_with('{') {
            starts.push((line, at));
        }
        at += content.len();
    }
    let ends = starts.iter().skip(1).map(|(_, end)| *end).chain([text.len()]);
    let found = starts.iter().zip(ends).map(|(&(line, start), end)| (line, &text[start..end])).collect();
    if starts.is_empty() { vec![(0, text)] } else { found }
}

/// The results of all sections, with the titles and kinds that they stand under.
fn results_of(document: &MemtierDocument) -> impl Iterator<Item = (&str, &str, &MemtierResults)> {
    document.0.iter().flat_map(|(title, members)| {
        members.0.iter().filter_map(|(kind, member)| match member {
            MemtierMember::Results(results) => Some((title.as_str(), kind.as_str(), results.as_ref())),
            _ => None,
        })
    })
}

/// When it ran, and whether it was stopped.
fn runtime(sheet: &mut SourceSheet, results: &MemtierResults) {
    let milliseconds = results.unit.as_deref().is_some_and(|unit| unit.eq_ignore_ascii_case("milliseconds"));
    if let Some(started) = results.started.filter(|_| milliseconds && sheet.started.is_empty()) {
        sheet.started = unix(started / 1e3);
    }
    if results.interrupted.as_deref() == Some("true") {
        sheet.notes.push("a run was interrupted before its end".to_owned());
    }
}

/// Percentage of keys that were found, of gets.
fn share(results: &MemtierResults) -> Option<f64> {
    let (hits, misses) = results.hits.zip(results.misses)?;
    (hits + misses > 0.0).then(|| hits / (hits + misses) * 100.0)
}

/// The results of one kind of requests; none of a kind that was not made, whose percentiles are no latencies.
fn readings(results: &MemtierResults) -> Option<Vec<SourceReading>> {
    let count = results.operations.filter(|count| *count > 0.0)?;
    let mut readings =
        vec![decimals(SourceReading::new("memtier.operations", "Operations", count, rate("operations")), 0.005)];
    if let Some(data) = results.data.filter(|data| *data > 0.0) {
        let data = SourceReading::new("memtier.data", "Data", data * KILOBYTE, bytes_per_second("bytes"));
        readings.push(decimals(data, 0.005 * KILOBYTE));
    }
    let average = results.average.map(|average| (average, 0.0005)).or(results.latency.map(|latency| (latency, 0.005)));
    if let Some((average, half)) = average {
        let reading = SourceReading::new("memtier.latency", "Latency, average", average * 1e-3, seconds("request"));
        let mut reading = decimals(reading, half * 1e-3);
        for (name, value) in &results.percentiles.0 {
            let percent = name.strip_prefix('p').and_then(number);
            if let Some((percent, value)) = percent.zip(value.number()) {
                reading.quantiles.push((percent / 100.0, value * 1e-3));
            }
        }
        reading.quantiles.sort_by(|one, other| one.0.total_cmp(&other.0));
        readings.push(reading);
    }
    if let Some(errors) = results.errors.filter(|errors| *errors > 0.0) {
        readings = readings.into_iter().map(|reading| reading.note(format!("{errors} connections failed"))).collect();
    }
    Some(readings)
}

/// Keeps the precision of a value that is written with a fixed number of decimals: half a unit of the last one.
fn decimals(mut reading: SourceReading, half: f64) -> SourceReading {
    if reading.value == 0.0 {
        reading.below = Some(half);
        return reading;
    }
    let value = reading.value;
    reading.rounded(half / value)
}

/// Settings that define its results, under the names that the table's have.
fn settings(document: &MemtierDocument) -> Vec<(&'static str, String)> {
    let stated = |section: &str, name: &str| match document.0.get(section)?.0.get(name)? {
        MemtierMember::Setting(value) => Some(parameter_value(&value.words())).filter(|words| words != "-"),
        _ => None,
    };
    let set = |name: &str| stated("configuration", name);
    let information = |name: &str| stated("run information", name);
    let ranged = |name: &str| set(name).filter(|value| !["0:0", "0-0"].contains(&value.as_str()));
    let payload = ranged("data_size_list").or_else(|| ranged("data_size_range"));
    let payload = payload.or_else(|| set("data_size").map(|size| size + "B"));
    let limit = set("rate_limit").or_else(|| set("rate-limiting")).filter(|limit| limit != "0");
    let parameters = [
        ("threads", information("Threads").or_else(|| set("threads"))),
        ("clients", information("Connections per thread").or_else(|| set("clients"))),
        ("pipeline", set("pipeline")),
        ("payload", payload),
        ("ratio", set("ratio")),
        ("protocol", set("protocol")),
        ("keys", set("key_pattern")),
        ("limit", limit),
    ];
    parameters.into_iter().filter_map(|(parameter, value)| Some((parameter, value?))).collect()
}

/// The title of a table, and how many runs it is of.
fn part(line: &str) -> Option<(Option<&'static str>, u32)> {
    Some(match line {
        "ALL STATS" => (None, 1),
        "BEST RUN RESULTS" => (Some("best"), 1),
        "WORST RUN RESULTS" => (Some("worst"), 1),
        _ => {
            let runs = line.strip_prefix("AGGREGATED AVERAGE RESULTS (")?.strip_suffix(" runs)")?;
            (Some("average"), runs.parse().ok()?)
        }
    })
}

/// Sets what all results of one kind of request have in common: its kind, the settings, the part of several runs, and
/// the percentage of keys that were found.
fn placed(
    readings: Vec<SourceReading>,
    kind: &str,
    parameters: &[(&str, String)],
    (part, runs): (Option<&str>, u32),
    share: Option<f64>,
) -> Vec<SourceReading> {
    let place = |reading: SourceReading| {
        let reading = reading.at("type", parameter_value(&kind.to_ascii_lowercase())).counts(1, runs);
        let reading =
            parameters.iter().fold(reading, |reading, (parameter, value)| reading.at(parameter, value.clone()));
        let reading = part.map_or_else(|| reading.clone(), |part| reading.clone().at("run", part));
        match share {
            Some(share) => reading.note(format!("{share:.1}% of its gets found their key")),
            None => reading,
        }
    };
    readings.into_iter().map(place).collect()
}
