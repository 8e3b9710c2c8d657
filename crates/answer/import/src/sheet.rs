//! The content of a source before it becomes a run: one sheet for each machine and session, one reading for each
//! result.

use std::collections::{BTreeSet, HashMap};

use model::{Better, Definition, Fact, FactValue, Metric, Parameters, Primitive, Unit};

use crate::text::{half_digit, parameter_value};

/// The content for one machine in one session.
#[derive(Debug, Default)]
pub(crate) struct SourceSheet {
    /// Version of the tool, if stated.
    pub(crate) version: Option<String>,
    /// Versions of parts of the source, with the numbers of readings before each.
    pub(crate) versions: Vec<(usize, String)>,
    /// Name that the source gives the run.
    pub(crate) label: Option<String>,
    /// Name of the machine, if stated.
    pub(crate) machine: String,
    /// Summary of the machine in one line, if stated.
    pub(crate) summary: String,
    /// Further facts about it.
    pub(crate) facts: Vec<Fact>,
    /// Start, RFC 3339 in UTC, if stated.
    pub(crate) started: String,
    /// Command line, if stated.
    pub(crate) command: Vec<String>,
    /// Notes for all results.
    pub(crate) notes: Vec<String>,
    /// The results.
    pub(crate) readings: Vec<SourceReading>,
    /// Numbers of readings before each process began, if the source shows where one begins.
    pub(crate) processes: Vec<usize>,
    /// Which of the processes repeat the one before, as the tool itself says.
    pub(crate) repetitions: Vec<usize>,
}

impl SourceSheet {
    /// Another output of the tool begins here. What it states again stays apart, unless the user says that the outputs
    /// are repetitions.
    pub(crate) fn begin_process(&mut self) {
        self.processes.push(self.readings.len());
    }

    /// Another process begins here that the tool itself ran to repeat the one before: what it states again is one more
    /// sample of the same result.
    pub(crate) fn begin_repetition(&mut self) {
        self.repetitions.push(self.processes.len());
        self.begin_process();
    }

    /// Sets a parameter `output` on results that several outputs state, and says in one sentence that it did. Only the
    /// tool or the user knows whether outputs repeat each other: another machine or setting prints the same lines.
    pub(crate) fn tell_outputs(&mut self) -> Option<String> {
        let output_of = |index: usize| {
            let process = self.processes.partition_point(|start| *start <= index);
            process - self.repetitions.partition_point(|repetition| *repetition < process)
        };
        let outputs: Vec<usize> = (0..self.readings.len()).map(output_of).collect();
        let mut stated: HashMap<(&str, &Parameters), BTreeSet<usize>> = HashMap::new();
        for (reading, output) in self.readings.iter().zip(&outputs) {
            stated.entry((&reading.id, &reading.parameters)).or_default().insert(*output);
        }
        let several: Vec<bool> =
            self.readings.iter().map(|reading| stated[&(reading.id.as_str(), &reading.parameters)].len() > 1).collect();
        let told: BTreeSet<usize> =
            outputs.iter().zip(&several).filter(|(_, several)| **several).map(|(output, _)| *output).collect();
        let number: HashMap<usize, usize> = told.into_iter().zip(1..).collect();
        for ((reading, output), _) in self.readings.iter_mut().zip(&outputs).zip(&several).filter(|(_, told)| **told) {
            reading.parameters = std::mem::take(&mut reading.parameters).with("output", number[output].to_string());
        }
        (!number.is_empty()).then(|| {
            format!(
                "{} outputs state the same results and stay apart, as output=1 to output={}; if they are repetitions, \
                 import the file with --repeats",
                number.len(),
                number.len()
            )
        })
    }

    /// Sheets of one machine with one version are processes.
    pub(crate) fn merged(sheets: Vec<Self>) -> Vec<Self> {
        let mut merged: Vec<Self> = Vec::new();
        for mut sheet in sheets.into_iter().filter(|sheet| !sheet.readings.is_empty()) {
            match merged.iter_mut().find(|known| known.facts == sheet.facts && known.version == sheet.version) {
                Some(known) => {
                    let start = known.readings.len();
                    known.begin_process();
                    known
                        .processes
                        .extend(sheet.processes.iter().filter(|begin| **begin > 0).map(|begin| start + begin));
                    known.readings.append(&mut sheet.readings);
                    known.notes.append(&mut sheet.notes);
                }
                None => merged.push(sheet),
            }
        }
        merged
    }

    /// The version of what follows, which another may follow in one file.
    pub(crate) fn states_version(&mut self, version: String) {
        if !version.is_empty() {
            self.versions.push((self.readings.len(), parameter_value(&version)));
            self.version = Some(version);
        }
    }

    /// Keeps apart what several versions of the tool state of one result: they are no samples of each other.
    pub(crate) fn tell_versions(&mut self) {
        let versions = std::mem::take(&mut self.versions);
        let mixed = {
            let mut of: HashMap<(&str, &Parameters), &str> = HashMap::new();
            self.readings.iter().enumerate().any(|(index, reading)| {
                let before = &versions[..versions.partition_point(|(start, _)| *start <= index)];
                let version = before.last().map_or("", |(_, version)| version.as_str());
                *of.entry((&reading.id, &reading.parameters)).or_insert(version) != version
            })
        };
        if mixed && self.tell_apart("version", &versions) {
            self.version = None;
        }
    }

    /// Sets a parameter by what each part of a source states, given with the number of readings before it; only where
    /// parts state different values, which would otherwise be samples of each other. Whether they do.
    pub(crate) fn tell_apart(&mut self, parameter: &str, parts: &[(usize, String)]) -> bool {
        let differ = parts.iter().any(|(_, value)| *value != parts[0].1);
        for (index, reading) in self.readings.iter_mut().enumerate().filter(|_| differ) {
            let before = &parts[..parts.partition_point(|(start, _)| *start <= index)];
            if let Some((_, value)) = before.last() {
                reading.parameters = std::mem::take(&mut reading.parameters).with(parameter, value);
            }
        }
        differ
    }

    /// Adds a fact unless it is there: the first statement counts.
    pub(crate) fn fact(&mut self, fact: impl IntoIterator<Item = Fact>) {
        for fact in fact {
            if !self.facts.iter().any(|known| known.name == fact.name) {
                self.facts.push(fact);
            }
        }
    }
}

/// Uncertainty of a value as the source states it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SourceSpread {
    /// Not stated.
    None,
    /// Least and greatest of repetitions inside one process: shown, but no basis for a claim.
    Range(f64, f64),
    /// An interval at a stated level.
    Interval { low: f64, high: f64, level: f64 },
    /// Values of executions in separate processes, in the order of time.
    Samples(Vec<f64>),
}

/// One result as the source states it.
#[derive(Debug, Clone)]
pub(crate) struct SourceReading {
    /// The id of this program if the definition is the same, else `tool.name`.
    pub(crate) id: String,
    /// Its parameters.
    pub(crate) parameters: Parameters,
    /// The source's title.
    pub(crate) title: String,
    /// The value, in the unit of `metric`.
    pub(crate) value: f64,
    /// Unit and direction; the catalogue's take precedence if it knows the id.
    pub(crate) metric: Metric,
    /// Uncertainty of the value.
    pub(crate) spread: SourceSpread,
    /// Half a unit in the last printed digit, relative to the value, if the source's digits are known.
    pub(crate) rounding: Option<f64>,
    /// Half a unit in the last printed digit, in the unit of `metric`, if the source prints zero with decimals.
    pub(crate) below: Option<f64>,
    /// Number of processes behind the value.
    pub(crate) samples: u32,
    /// Repetitions inside one process.
    pub(crate) batches: u32,
    /// Quantiles of single operations: quantile and value.
    pub(crate) quantiles: Vec<(f64, f64)>,
    /// The same of each sample, if there are several.
    pub(crate) sample_quantiles: Vec<Vec<(f64, f64)>>,
    /// Primitives that it stresses, the first one mainly, if the source states them and the catalogue does not.
    pub(crate) stresses: Vec<Primitive>,
    /// How it compares with the catalogue's definition, if the source's description says it; else the catalogue does.
    pub(crate) definition: Option<Definition>,
    /// Notes.
    pub(crate) notes: Vec<String>,
}

impl SourceReading {
    /// A reading with a value and nothing else.
    pub(crate) fn new(id: impl Into<String>, title: impl Into<String>, value: f64, metric: Metric) -> Self {
        Self {
            id: id.into(),
            parameters: Parameters::none(),
            title: title.into(),
            value,
            metric,
            spread: SourceSpread::None,
            rounding: None,
            below: None,
            samples: 1,
            batches: 1,
            quantiles: Vec::new(),
            sample_quantiles: Vec::new(),
            stresses: Vec::new(),
            definition: None,
            notes: Vec::new(),
        }
    }

    pub(crate) fn at(mut self, parameter: &str, value: impl Into<String>) -> Self {
        self.parameters = self.parameters.with(parameter, value);
        self
    }

    pub(crate) fn spread(mut self, spread: SourceSpread) -> Self {
        self.spread = spread;
        self
    }

    /// Keeps the precision of a printed number; relative, so that conversions of units do not change it.
    pub(crate) fn printed(mut self, text: &str) -> Self {
        // Of `5.548e+00`, the last digit of the mantissa counts.
        let (mantissa, _) = text.split_once(['e', 'E']).unwrap_or((text, ""));
        let half = half_digit(mantissa);
        self.rounding =
            mantissa.parse::<f64>().ok().map(|value| half / value.abs()).filter(|rounding| rounding.is_finite());
        self
    }

    /// Keeps the precision of a number that is printed in units of `scale`: `0.00` says less than 0.005, not zero.
    pub(crate) fn printed_in(mut self, text: &str, scale: f64) -> Self {
        let text = text.trim();
        self = self.printed(text);
        if text.split_once('.').is_some_and(|(_, decimals)| !decimals.is_empty())
            && self.value == 0.0
            && !text.contains(['e', 'E'])
        {
            self.below = Some(half_digit(text) * scale);
        }
        self
    }

    /// Half a unit in the last printed digit, relative to the value, where that is of another number than the value.
    pub(crate) fn rounded(mut self, rounding: f64) -> Self {
        self.rounding = Some(rounding).filter(|rounding| rounding.is_finite());
        self
    }

    pub(crate) fn counts(mut self, samples: u32, batches: u32) -> Self {
        (self.samples, self.batches) = (samples.max(1), batches.max(1));
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// A time for one operation; lower is better.
pub(crate) fn seconds(per: &'static str) -> Metric {
    Metric::lower(Unit::Seconds, per)
}

/// A rate per second; higher is better.
pub(crate) fn rate(of: &'static str) -> Metric {
    Metric::higher(Unit::PerSecond, of)
}

/// A data rate; higher is better.
pub(crate) fn bytes_per_second(of: &'static str) -> Metric {
    Metric::higher(Unit::BytesPerSecond, of)
}

/// A metric in the source's words.
pub(crate) fn metric(unit: Unit, per: &str, better: Better) -> Metric {
    Metric { unit, per: per.to_owned().into(), better }
}

/// A fact as text; none if the text is empty.
pub(crate) fn text(name: &str, value: &str, source: &str, affects: &[Primitive]) -> Option<Fact> {
    let value = value.trim();
    (!value.is_empty()).then(|| fact(name, FactValue::Text(value.to_owned()), None, source, affects))
}

/// A fact as a number.
pub(crate) fn number(name: &str, value: f64, unit: &str, source: &str, affects: &[Primitive]) -> Fact {
    fact(name, FactValue::Number(value), Some(unit.to_owned()), source, affects)
}

fn fact(name: &str, value: FactValue, unit: Option<String>, source: &str, affects: &[Primitive]) -> Fact {
    Fact { name: name.to_owned(), value, unit, source: source.to_owned(), affects: affects.to_vec() }
}
