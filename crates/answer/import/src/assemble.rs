//! Makes runs of sheets: with the catalogue's words for known results, and the source's own for the rest.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::{
    BenchmarkDescription, BenchmarkResult, Better, Catalogue, Class, Estimate, EstimateMethod, Machine, Metric, Origin,
    Outcome, Parameters, Plan, QuantileEstimate, RANGE_BELOW, ResultKey, Run, Sample, Session, Unit, parse_size,
};

use crate::facts::leave_out;
use crate::sheet::{SourceReading, SourceSheet, SourceSpread};
use crate::text::usable;

/// Confidence level of intervals that are computed here from executions in separate processes.
const LEVEL: f64 = 0.95;

/// Origin and name of a sheet's run.
pub(crate) struct Provenance {
    pub(crate) id: String,
    pub(crate) label: Option<String>,
    pub(crate) suite: String,
    pub(crate) origin: Origin,
    /// Name under which the catalogue has the source of its definitions.
    pub(crate) source: String,
}

/// Leaves out what cannot be, and keeps apart what only the tool, or the user by `repeats`, may call repetitions. A
/// sentence says what stays apart.
pub(crate) fn prepare(sheet: &mut SourceSheet, repeats: bool) -> Option<String> {
    leave_out(sheet);
    sheet.tell_versions();
    let apart = if repeats { None } else { sheet.tell_outputs() };
    sheet.notes.extend(apart.clone());
    apart
}

/// The run document of a sheet.
pub(crate) fn assemble(sheet: SourceSheet, provenance: Provenance, catalogue: &Catalogue) -> Run {
    let mut origin = provenance.origin;
    if sheet.version.is_some() {
        origin.version = sheet.version;
    }
    let readings = joined(sheet.readings, &sheet.processes);
    let mut results: Vec<BenchmarkResult> =
        readings.into_iter().map(|reading| result(reading, catalogue, &provenance.source)).collect();
    results.sort_by_key(|result| catalogue.position(&result.benchmark).unwrap_or(usize::MAX));
    Run {
        id: provenance.id,
        label: sheet.label.or(provenance.label),
        origin: Some(origin),
        machine: Machine { name: sheet.machine, summary: sheet.summary, facts: sheet.facts, ..Machine::default() },
        session: Session {
            started: sheet.started,
            command: sheet.command,
            complete: true,
            notes: sheet.notes,
            ..Session::default()
        },
        plan: Plan { suite: provenance.suite, ..Plan::default() },
        results,
        ..Run::default()
    }
}

/// One reading for each result. Values of one result from several processes are its samples; a repetition within one
/// process is another occurrence.
fn joined(readings: Vec<SourceReading>, processes: &[usize]) -> Vec<SourceReading> {
    let mut kept: Vec<SourceReading> = Vec::with_capacity(readings.len());
    let mut times: HashMap<(usize, String, Parameters), u32> = HashMap::new();
    let mut places: HashMap<(String, Parameters), usize> = HashMap::new();
    for (index, mut reading) in readings.into_iter().enumerate() {
        let process = processes.partition_point(|start| *start <= index);
        let again = times.entry((process, reading.id.clone(), reading.parameters.clone())).or_default();
        *again += 1;
        if *again > 1 {
            reading = reading.at("occurrence", again.to_string());
        }
        match places.entry((reading.id.clone(), reading.parameters.clone())) {
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push(reading);
            }
            Entry::Occupied(place) => join(&mut kept[*place.get()], reading),
        }
    }
    kept
}

/// Adds the values of a further process.
fn join(kept: &mut SourceReading, next: SourceReading) {
    // Grows in place: a table may have many thousand rows of one machine.
    let mut all = match std::mem::replace(&mut kept.spread, SourceSpread::None) {
        SourceSpread::Samples(values) => values,
        _ => vec![kept.value],
    };
    let before = all.len();
    match next.spread {
        SourceSpread::Samples(values) => all.extend(values),
        _ => all.push(next.value),
    }
    kept.sample_quantiles.resize_with(before, || std::mem::take(&mut kept.quantiles));
    kept.sample_quantiles.push(next.quantiles);
    kept.sample_quantiles.resize(all.len(), Vec::new());
    kept.samples = u32::try_from(all.len()).unwrap_or(u32::MAX);
    kept.spread = SourceSpread::Samples(all);
    kept.below = kept.below.zip(next.below).map(|(a, b)| a.max(b));
    // The one that is printed with fewest digits bounds what is known of all.
    kept.rounding = kept.rounding.into_iter().chain(next.rounding).reduce(f64::max);
    // A note on one process may not hold for all.
    kept.notes.retain(|note| next.notes.contains(note));
}

fn result(reading: SourceReading, catalogue: &Catalogue, source: &str) -> BenchmarkResult {
    let description = catalogue.get(&reading.id);
    debug_assert!(!catalogue.lacks(&reading.id), "{} is neither a tool's nor a benchmark", reading.id);
    let (metric, convert) = measure(&reading, description);
    let (title, class, stresses) = match description {
        Some(ours) => (ours.title.clone(), ours.class, ours.stresses.clone()),
        None => (reading.title.clone(), class_of(&metric), Vec::new()),
    };
    let stresses = if reading.stresses.is_empty() { stresses } else { reading.stresses.clone() };
    let outcome = outcome(&reading, convert);
    let parameters = spelt(&reading.parameters, description);
    let told = || description.map(|known| known.definition(source, &parameters)).unwrap_or_default();
    let definition = reading.definition.clone().unwrap_or_else(told);
    BenchmarkResult {
        definition,
        stresses,
        outcome,
        flags: Vec::new(),
        rounding: reading.rounding.filter(|rounding| plausible(*rounding)),
        quantiles: quantiles(&reading, convert),
        samples: samples(&reading, convert),
        notes: reading.notes,
        ..BenchmarkResult::unmeasured(ResultKey::new(reading.id, parameters), title, metric, class)
    }
}

/// Class of a result that only its tool has, by its unit.
const fn class_of(metric: &Metric) -> Class {
    match metric.unit {
        Unit::BytesPerSecond => Class::Bandwidth,
        _ => Class::Application,
    }
}

/// The direction of a unit if the source does not state one.
pub(crate) const fn default_direction(unit: Unit) -> Better {
    if unit.is_rate() { Better::Higher } else { Better::Lower }
}

/// Conversion from the source's unit to the result's.
#[derive(Clone, Copy, PartialEq)]
enum Convert {
    Same,
    Invert,
}

impl Convert {
    fn apply(self, value: f64) -> f64 {
        if self == Self::Invert { 1.0 / value } else { value }
    }
}

/// The catalogue's metric if the value can be converted to it, else the source's.
fn measure(reading: &SourceReading, description: Option<&BenchmarkDescription>) -> (Metric, Convert) {
    let Some(ours) = description.map(|description| &description.metric) else {
        return (reading.metric.clone(), Convert::Same);
    };
    let unit = reading.metric.unit;
    match (unit, ours.unit) {
        (a, b) if a == b => (ours.clone(), Convert::Same),
        (Unit::Seconds, Unit::PerSecond) | (Unit::PerSecond, Unit::Seconds) => (ours.clone(), Convert::Invert),
        _ => (Metric { unit, per: ours.per.clone(), better: default_direction(unit) }, Convert::Same),
    }
}

/// The parameters with values in the catalogue's spelling: `0B` becomes `0` where the catalogue writes `0`.
fn spelt(parameters: &Parameters, description: Option<&BenchmarkDescription>) -> Parameters {
    let declared = description.map_or(&[][..], |description| &description.parameters);
    parameters.iter().fold(Parameters::none(), |spelt, (parameter, value)| {
        let values = declared.iter().find(|known| known.name == parameter).map_or(&[][..], |known| &known.values);
        let same = |known: &&String| {
            known.as_str() == value || parse_size(known).ok().zip(parse_size(value).ok()).is_some_and(|(a, b)| a == b)
        };
        spelt.with(parameter, values.iter().find(same).map_or(value, String::as_str))
    })
}

fn outcome(reading: &SourceReading, convert: Convert) -> Outcome {
    let value = convert.apply(reading.value);
    if let (Some(bound), Convert::Same) = (reading.below.filter(|bound| plausible(*bound)), convert) {
        return Outcome::Below { bound };
    }
    if !plausible(value) {
        return Outcome::Failed(format!("the source states {}, which is meaningless here", reading.value));
    }
    let (low, high, level, method) = match &reading.spread {
        SourceSpread::None => (value, value, 0.0, EstimateMethod::None),
        SourceSpread::Range(a, b) => ordered(convert.apply(*a), convert.apply(*b), 0.0, EstimateMethod::Range),
        SourceSpread::Interval { low, high, level } => {
            ordered(convert.apply(*low), convert.apply(*high), *level, EstimateMethod::Stated)
        }
        SourceSpread::Samples(values) => return of_samples(reading, values, convert),
    };
    if !(low.is_finite() && high.is_finite()) || low > value || value > high {
        // A range that does not contain its own value is meaningless.
        return Outcome::Measured(counted(Estimate::without_spread(value), reading.samples, reading.batches));
    }
    Outcome::Measured(Estimate {
        value,
        low,
        high,
        level: level.clamp(0.0, 1.0),
        samples: reading.samples,
        batches: reading.batches,
        method,
    })
}

/// Whether a time, a rate or a count can have the value; a tool that subtracts may print a negative one.
fn plausible(value: f64) -> bool {
    usable(value) && value >= 0.0
}

fn ordered(a: f64, b: f64, level: f64, method: EstimateMethod) -> (f64, f64, f64, EstimateMethod) {
    (a.min(b), a.max(b), level, method)
}

const fn counted(estimate: Estimate, samples: u32, batches: u32) -> Estimate {
    Estimate { samples, batches, ..estimate }
}

/// The estimate that executions in separate processes support: order statistics if these suffice for 95%, else the
/// extremes with their own confidence. Its ends are known to the printed digits only: executions that are printed alike
/// need not be alike.
fn of_samples(reading: &SourceReading, values: &[f64], convert: Convert) -> Outcome {
    let values: Vec<f64> = values.iter().map(|value| convert.apply(*value)).collect();
    let rounding = reading.rounding.filter(|rounding| plausible(*rounding)).unwrap_or(0.0);
    let of = |found: stats::MedianInterval, method| {
        let estimate = found.estimate(values.len(), reading.batches, method);
        let (low, high) = (estimate.low - rounding * found.median, estimate.high + rounding * found.median);
        Outcome::Measured(Estimate { low: low.max(0.0), high, ..estimate })
    };
    if !values.iter().all(|value| plausible(*value)) {
        return Outcome::Failed("an execution's value is meaningless here".to_owned());
    }
    if let Some(found) = stats::serial_median_interval(&values, LEVEL) {
        return of(found, EstimateMethod::OrderStatistic);
    }
    match stats::order_statistic::median_range(&values) {
        Some(found) => of(found, EstimateMethod::Range),
        None => {
            let value = values.first().copied().unwrap_or_else(|| convert.apply(reading.value));
            Outcome::Measured(counted(Estimate::without_spread(value), 1, reading.batches))
        }
    }
}

fn samples(reading: &SourceReading, convert: Convert) -> Vec<Sample> {
    let SourceSpread::Samples(values) = &reading.spread else { return Vec::new() };
    let quantiles = reading.sample_quantiles.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
    let sample = |((round, value), quantiles): ((u32, &f64), &[(f64, f64)])| {
        let quantiles = quantiles.iter().map(|(quantile, value)| (*quantile, convert.apply(*value))).collect();
        Sample { round, value: convert.apply(*value), quantiles, ..Sample::default() }
    };
    (0..).zip(values).zip(quantiles).map(sample).filter(|sample| plausible(sample.value)).collect()
}

/// Quantiles as stated. With several samples, the medians of those that all state, with intervals.
fn quantiles(reading: &SourceReading, convert: Convert) -> Vec<QuantileEstimate> {
    let each = match &reading.sample_quantiles[..] {
        [] => std::slice::from_ref(&reading.quantiles),
        each => each,
    };
    let of = |&(quantile, _): &(f64, f64)| {
        let at = |stated: &Vec<(f64, f64)>| stated.iter().find(|(known, _)| *known == quantile).map(|(_, v)| *v);
        let values: Vec<f64> =
            each.iter().map(|stated| at(stated).map(|value| convert.apply(value))).collect::<Option<_>>()?;
        let possible = (0.0..=1.0).contains(&quantile) && values.iter().all(|value| plausible(*value));
        possible.then_some((quantile, values))
    };
    let (wanted, columns): (Vec<f64>, Vec<Vec<f64>>) = each[0].iter().filter_map(of).unzip();
    let intervals = stats::order_statistic::joint_median_intervals(&columns, LEVEL).unwrap_or_default();
    let supported = intervals.iter().all(|found| found.interval.level >= RANGE_BELOW);
    let estimate = |(at, (quantile, values)): (usize, (f64, &Vec<f64>))| {
        let samples = u32::try_from(values.len()).unwrap_or(u32::MAX);
        let estimate = match intervals.get(at).filter(|_| supported) {
            Some(found) => found.estimate(values.len(), 1, EstimateMethod::OrderStatistic),
            None => counted(Estimate::without_spread(stats::median(values)?), samples, 1),
        };
        Some(QuantileEstimate { quantile, estimate })
    };
    wanted.into_iter().zip(&columns).enumerate().filter_map(estimate).collect()
}
