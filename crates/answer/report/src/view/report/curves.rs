//! Results over a size: memory hierarchy, bandwidth over block size.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{BenchmarkResult, Machine, Parameters, ResultKey, Run, Unit, parse_size};

use super::{CURVES, heading};
use crate::view::machine::fact_words;
use crate::words::parameters_words;
use crate::{Block, Chart, ChartAxis, ChartPlot, Curves, Division, DocumentSection, Mark, PrintedQuantity, Series};

/// Fewest sizes of a curve.
const LEAST_SIZES: usize = 5;

/// A chart for each benchmark with many sizes, several where one could not be read; one section for each family.
pub(super) fn sections(runs: &[&Run], names: &[String]) -> Vec<DocumentSection> {
    let mut sections: Vec<DocumentSection> = Vec::new();
    for (benchmark, parameter) in benchmarks(runs) {
        let charts = charts(runs, names, &benchmark, &parameter).into_iter().map(Block::Chart);
        let title = format!("{} over size", heading(&benchmark));
        match sections.iter_mut().find(|section| section.title == title) {
            Some(section) => section.blocks.extend(charts),
            None => sections.push(DocumentSection { title, blocks: charts.collect() }),
        }
    }
    sections
}

/// Benchmarks with enough sizes on one parameter, in the order of the runs.
fn benchmarks(runs: &[&Run]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for result in runs.iter().flat_map(|run| &run.results) {
        if found.iter().any(|(benchmark, _)| *benchmark == result.benchmark) {
            continue;
        }
        let parameters = result.parameters.iter().filter(|(_, value)| size(value).is_some());
        for (parameter, _) in parameters {
            let sizes: BTreeSet<u64> = runs
                .iter()
                .flat_map(|run| &run.results)
                .filter(|other| other.benchmark == result.benchmark && other.outcome.estimate().is_some())
                .filter_map(|other| size(other.parameters.get(parameter)?))
                .collect();
            if sizes.len() >= LEAST_SIZES {
                found.push((result.benchmark.clone(), parameter.to_owned()));
                break;
            }
        }
    }
    found
}

/// The results that are part of a curve, for which a chart is better than rows.
pub(super) fn keys(runs: &[&Run]) -> HashSet<ResultKey> {
    let mut found = HashSet::new();
    for (benchmark, parameter) in benchmarks(runs) {
        let on = |result: &&BenchmarkResult| {
            result.benchmark == benchmark && result.parameters.get(&parameter).and_then(size).is_some()
        };
        let results: Vec<&BenchmarkResult> = runs.iter().flat_map(|run| &run.results).filter(on).collect();
        let mut curves: HashMap<Parameters, HashSet<ResultKey>> = HashMap::new();
        for result in results {
            curves.entry(result.parameters.clone().without(&parameter)).or_default().insert(result.key());
        }
        found.extend(curves.into_values().filter(|keys| keys.len() >= LEAST_SIZES).flatten());
    }
    found
}

/// A size with its unit; a plain number is a count.
fn size(text: &str) -> Option<u64> {
    text.ends_with('B').then(|| parse_size(text).ok()).flatten()
}

/// Whether a result belongs to the memory hierarchy, by the first primitive that its benchmark declares.
fn walks_memory(result: &BenchmarkResult) -> bool {
    use model::Primitive as P;
    let first = result.stresses.first();
    first.is_some_and(|p| {
        matches!(p, P::L1 | P::L2 | P::L3 | P::CacheLatency | P::DramLatency | P::DramRead | P::DramWrite | P::Tlb)
    })
}

/// A curve, with its run and its parameters.
struct SizeCurve {
    /// Place of its run.
    run: usize,
    /// Its parameters without the size, in words.
    words: String,
    series: Series,
}

/// The results of a benchmark over the sizes of a parameter, with a curve for every set of parameters of the others.
pub(in crate::view) fn chart(runs: &[&Run], names: &[String], benchmark: &str, parameter: &str) -> Chart {
    let mut curves = curves_of(runs, names, benchmark, parameter);
    colour(&mut curves, runs.len() > 1);
    drawn(&frame(runs, names, benchmark, parameter), String::new(), curves)
}

/// The same in several charts if there are more curves than colours can distinguish. Curves of one set of parameters
/// stay together if possible.
fn charts(runs: &[&Run], names: &[String], benchmark: &str, parameter: &str) -> Vec<Chart> {
    let (frame, several) = (frame(runs, names, benchmark, parameter), runs.len() > 1);
    let mut parts: Vec<Vec<SizeCurve>> = Vec::new();
    for kind in kinds(curves_of(runs, names, benchmark, parameter), several) {
        let begun = parts.last().map_or(0, Vec::len);
        match parts.last_mut().filter(|_| begun + kind.len() <= CURVES) {
            Some(part) => part.extend(kind),
            None => {
                let mut rest = kind.into_iter().peekable();
                while rest.peek().is_some() {
                    parts.push(rest.by_ref().take(CURVES).collect());
                }
            }
        }
    }
    let of = parts.len();
    let chart = |(number, mut part): (usize, Vec<SizeCurve>)| {
        colour(&mut part, several);
        let which = if of > 1 { format!(" ({number} of {of})") } else { String::new() };
        drawn(&frame, which, part)
    };
    (1..).zip(parts).map(chart).collect()
}

/// Groups of curves for one chart: those of one set of parameters over several runs, or each curve alone for one run.
fn kinds(curves: Vec<SizeCurve>, several: bool) -> Vec<Vec<SizeCurve>> {
    let mut kinds: Vec<Vec<SizeCurve>> = Vec::new();
    for curve in curves {
        match kinds.iter_mut().find(|kind| several && kind[0].words == curve.words) {
            Some(kind) => kind.push(curve),
            None => kinds.push(vec![curve]),
        }
    }
    kinds
}

/// The chart of a benchmark without its curves.
fn frame(runs: &[&Run], names: &[String], benchmark: &str, parameter: &str) -> Chart {
    let first = runs.iter().flat_map(|run| &run.results).find(|result| result.benchmark == benchmark);
    let (title, unit, per) = first.map_or((benchmark, Unit::Seconds, ""), |result| {
        (&result.title, result.metric.unit, result.metric.per.as_ref())
    });
    let marks = if first.is_some_and(walks_memory) {
        runs.first().map(|run| cache_marks(&run.machine)).unwrap_or_default()
    } else {
        Vec::new()
    };
    let mut about = format!("{title} by {}, both axes logarithmic. Bars: 95% intervals.", parameter.replace('_', " "));
    if let (false, Some(name)) = (marks.is_empty(), names.first()) {
        about.push_str(&format!(" Vertical lines: the cache sizes that {name} reports."));
    }
    let counted = if per.is_empty() { title.to_owned() } else { per.to_owned() };
    let y = if unit.is_rate() { format!("{counted} per second") } else { format!("time of one {counted}") };
    let x = ChartAxis { title: parameter.replace('_', " "), unit: Unit::Bytes, division: Division::Octaves };
    let y = ChartAxis { title: y, unit, division: Division::Decades };
    Chart { title: title.to_owned(), about, plot: ChartPlot::Curves(Curves { x, y, series: Vec::new(), marks }) }
}

/// The chart with these curves, and `added` after its title.
fn drawn(frame: &Chart, added: String, curves: Vec<SizeCurve>) -> Chart {
    let mut chart = frame.clone();
    chart.title.push_str(&added);
    if let ChartPlot::Curves(plot) = &mut chart.plot {
        plot.series = curves.into_iter().map(|curve| curve.series).collect();
    }
    chart
}

/// Curves of two sizes and more, with their sets of parameters from left to right.
fn curves_of(runs: &[&Run], names: &[String], benchmark: &str, parameter: &str) -> Vec<SizeCurve> {
    let mut curves: Vec<SizeCurve> = Vec::new();
    for (place, (run, name)) in runs.iter().zip(names).enumerate() {
        for result in run.results.iter().filter(|result| result.benchmark == benchmark) {
            add(&mut curves, result, parameter, (place, name), runs.len() > 1);
        }
    }
    curves.retain(|curve| curve.series.points.len() > 1);
    curves.iter_mut().for_each(|curve| curve.series.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    curves
}

/// Each run has its own colour, or each curve if there is one run.
fn colour(curves: &mut [SizeCurve], several: bool) {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (index, curve) in curves.iter_mut().enumerate() {
        if !several {
            curve.series.colour = index;
            continue;
        }
        match runs.iter().position(|(known, _)| *known == curve.run) {
            Some(place) => {
                runs[place].1 += 1;
                (curve.series.colour, curve.series.variant) = (place, runs[place].1);
            }
            None => {
                curve.series.colour = runs.len();
                runs.push((curve.run, 0));
            }
        }
    }
}

fn add(
    curves: &mut Vec<SizeCurve>,
    result: &BenchmarkResult,
    parameter: &str,
    (place, run): (usize, &str),
    several: bool,
) {
    let Some(estimate) = result.outcome.estimate() else { return };
    let Some(bytes) = result.parameters.get(parameter).and_then(size) else { return };
    let words = parameters_words(&result.parameters.clone().without(parameter));
    let name = series_name(result, &words, run, several);
    #[expect(clippy::cast_precision_loss, reason = "a place on a parameter")]
    let parameters = (bytes as f64, PrintedQuantity::of(estimate, result.metric.unit).in_metric(&result.metric));
    match curves.iter_mut().find(|curve| curve.run == place && curve.words == words) {
        Some(curve) => curve.series.points.push(parameters),
        None => {
            let series = Series { name, colour: 0, variant: 0, points: vec![parameters] };
            curves.push(SizeCurve { run: place, words, series });
        }
    }
}

/// Name of a curve by its parameters in words, and by its run where there are several.
pub(super) fn series_name(result: &BenchmarkResult, words: &str, run: &str, several: bool) -> String {
    match (several, words.is_empty()) {
        (true, true) => run.to_owned(),
        (true, false) => format!("{run}, {words}"),
        (false, true) => result.title.clone(),
        (false, false) => words.to_owned(),
    }
}

/// Cache sizes that the machine reports: facts named `cache.LEVEL.size`.
fn cache_marks(machine: &Machine) -> Vec<Mark> {
    let mark = |fact: &model::Fact| {
        let level = fact.name.strip_prefix("cache.")?.strip_suffix(".size")?;
        let bytes = machine.number(&fact.name)?;
        (!level.contains('i'))
            .then(|| Mark { x: bytes, text: format!("{} {}", level.replacen('l', "L", 1), fact_words(fact)) })
    };
    machine.facts.iter().filter_map(mark).collect()
}
