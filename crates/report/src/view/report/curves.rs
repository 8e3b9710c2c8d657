//! Figures over a size: memory hierarchy, bandwidth over block size.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{Figure, FigureKey, Machine, Point, Run, Unit, parse_size};

use super::heading;
use crate::view::machine::fact_words;
use crate::words::point_words;
use crate::{Block, Chart, ChartAxis, ChartPlot, Curves, Division, DocumentSection, Mark, PrintedQuantity, Series};

/// Fewest sizes of a curve.
const LEAST_SIZES: usize = 5;

/// One chart for each probe with many sizes, one section for each family.
pub(super) fn sections(runs: &[&Run], names: &[String]) -> Vec<DocumentSection> {
    let mut sections: Vec<DocumentSection> = Vec::new();
    for (probe, axis) in probes(runs) {
        let chart = Block::Chart(chart(runs, names, &probe, &axis));
        let title = format!("{} over size", heading(&probe));
        match sections.iter_mut().find(|section| section.title == title) {
            Some(section) => section.blocks.push(chart),
            None => sections.push(DocumentSection::of(title, chart)),
        }
    }
    sections
}

/// Probes with enough sizes on one axis, in the order of the runs.
fn probes(runs: &[&Run]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for figure in runs.iter().flat_map(|run| &run.figures) {
        if found.iter().any(|(probe, _)| *probe == figure.probe) {
            continue;
        }
        let axes = figure.point.iter().filter(|(_, value)| size(value).is_some());
        for (axis, _) in axes {
            let sizes: BTreeSet<u64> = runs
                .iter()
                .flat_map(|run| &run.figures)
                .filter(|other| other.probe == figure.probe && other.outcome.estimate().is_some())
                .filter_map(|other| size(other.point.get(axis)?))
                .collect();
            if sizes.len() >= LEAST_SIZES {
                found.push((figure.probe.clone(), axis.to_owned()));
                break;
            }
        }
    }
    found
}

/// The figures that are part of a curve, for which a chart is better than rows.
pub(super) fn keys(runs: &[&Run]) -> HashSet<FigureKey> {
    let mut found = HashSet::new();
    for (probe, axis) in probes(runs) {
        let on = |figure: &&Figure| figure.probe == probe && figure.point.get(&axis).and_then(size).is_some();
        let figures: Vec<&Figure> = runs.iter().flat_map(|run| &run.figures).filter(on).collect();
        let mut curves: HashMap<Point, HashSet<FigureKey>> = HashMap::new();
        for figure in figures {
            curves.entry(figure.point.clone().without(&axis)).or_default().insert(figure.key());
        }
        found.extend(curves.into_values().filter(|keys| keys.len() >= LEAST_SIZES).flatten());
    }
    found
}

/// A size with its unit; a plain number is a count.
fn size(text: &str) -> Option<u64> {
    text.ends_with('B').then(|| parse_size(text).ok()).flatten()
}

/// Whether a figure belongs to the memory hierarchy, by the first primitive that its probe declares.
fn walks_memory(figure: &Figure) -> bool {
    use model::Primitive as P;
    let first = figure.stresses.first();
    first.is_some_and(|p| {
        matches!(p, P::L1 | P::L2 | P::L3 | P::CacheLatency | P::DramLatency | P::DramRead | P::DramWrite | P::Tlb)
    })
}

/// The figures of a probe over the sizes of an axis, with a curve for every point of the others.
pub(in crate::view) fn chart(runs: &[&Run], names: &[String], probe: &str, axis: &str) -> Chart {
    let first = runs.iter().flat_map(|run| &run.figures).find(|figure| figure.probe == probe);
    let (title, unit, per) = first
        .map_or((probe, Unit::Seconds, ""), |figure| (&figure.title, figure.metric.unit, figure.metric.per.as_ref()));
    let marks = if first.is_some_and(walks_memory) {
        runs.first().map(|run| cache_marks(&run.machine)).unwrap_or_default()
    } else {
        Vec::new()
    };
    let mut about = format!(
        "{title} at every {} that was measured, both axes logarithmic; bars are 95% intervals.",
        axis.replace('_', " ")
    );
    if let (false, Some(name)) = (marks.is_empty(), names.first()) {
        about.push_str(&format!(
            " Vertical lines: the cache sizes that {name} reports; the steps of the curve are what it has."
        ));
    }
    let mut series: Vec<(String, Series)> = Vec::new();
    for (run, name) in runs.iter().zip(names) {
        for figure in run.figures.iter().filter(|figure| figure.probe == probe) {
            add(&mut series, figure, axis, name, runs.len() > 1);
        }
    }
    let mut series: Vec<(String, Series)> = series.into_iter().filter(|(_, series)| series.points.len() > 1).collect();
    colour(&mut series, runs.len() > 1);
    let series: Vec<Series> = series.into_iter().map(|(_, series)| series).collect();
    let counted = if per.is_empty() { title.to_owned() } else { per.to_owned() };
    let y = if unit.is_rate() { format!("{counted} a second") } else { format!("time of one {counted}") };
    let x = ChartAxis { title: axis.replace('_', " "), unit: Unit::Bytes, division: Division::Octaves };
    let y = ChartAxis { title: y, unit, division: Division::Decades };
    Chart { title: title.to_owned(), about, plot: ChartPlot::Curves(Curves { x, y, series, marks }) }
}

/// Each run has its own colour, or each series if there is one run; points are sorted from left to right.
fn colour(series: &mut [(String, Series)], several: bool) {
    let mut runs: Vec<(String, usize)> = Vec::new();
    for (index, (key, one)) in series.iter_mut().enumerate() {
        one.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if !several {
            one.colour = index;
            continue;
        }
        let run = key.split('\n').next().unwrap_or_default().to_owned();
        match runs.iter().position(|(known, _)| *known == run) {
            Some(place) => {
                runs[place].1 += 1;
                (one.colour, one.variant) = (place, runs[place].1);
            }
            None => {
                one.colour = runs.len();
                runs.push((run, 0));
            }
        }
    }
}

fn add(series: &mut Vec<(String, Series)>, figure: &Figure, axis: &str, run: &str, several: bool) {
    let Some(estimate) = figure.outcome.estimate() else { return };
    let Some(bytes) = figure.point.get(axis).and_then(size) else { return };
    let rest: Point = figure.point.clone().without(axis);
    let words = point_words(&rest);
    let name = match (several, words.is_empty()) {
        (true, true) => run.to_owned(),
        (true, false) => format!("{run}, {words}"),
        (false, true) => figure.title.clone(),
        (false, false) => words,
    };
    let key = format!("{run}\n{name}");
    #[expect(clippy::cast_precision_loss, reason = "a place on an axis")]
    let point = (bytes as f64, PrintedQuantity::of(estimate, figure.metric.unit));
    match series.iter_mut().find(|(known, _)| *known == key) {
        Some((_, series)) => series.points.push(point),
        None => series.push((key, Series { name, colour: 0, variant: 0, points: vec![point] })),
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
