//! What stands behind a row of a page: the samples of its result, and the quantiles of its operations.

use compare::{CompareRow, Comparison, quality::target};
use model::{BenchmarkResult, Outcome, Run, Sample, Unit, ValueBasis};

use crate::view::tails;
use crate::words::grouped;
use crate::{
    Chart, ChartAxis, ChartPlot, Division, PrintedQuantity, RowDetail, RowLink, SamplePoint, SampleSet, SamplesPlot,
    Table,
};

/// Fewest samples that are drawn.
const FEWEST: usize = 2;
/// Quantiles of the batches of a sample between which a line is drawn.
const BATCHES: (f64, f64) = (0.1, 0.9);
/// How far the median of the batches may lie from the value of their sample, relative: more is another basis.
const SAME: f64 = 1e-3;

/// A result with the name and the number of its run.
pub(super) type Member<'a> = (usize, &'a str, &'a Run, &'a BenchmarkResult);

/// The detail of one result, in one run or several.
pub(super) fn of(members: &[Member<'_>], changed: bool) -> Option<RowDetail> {
    let (.., first) = members.first()?;
    let wide = |(_, _, run, result): &Member<'_>| {
        result.outcome.estimate().is_some() && !result.is_within(target(run, result), run.plan.level)
    };
    let named = members.iter().map(|(_, name, _, result)| (*name, *result));
    Some(RowDetail {
        link: RowLink::of(&first.key()),
        wide: members.iter().any(wide),
        changed,
        samples: samples(members),
        tails: tails::of_results(named),
    })
}

/// Adds details to the rows of a table of all results of a run, which are grouped by family.
pub(super) fn add_to_run(table: &mut Table, run: &Run, name: &str) {
    let families = grouped(run.results.iter().map(|result| (result.family(), result)));
    for (group, (_, members)) in table.groups.iter_mut().zip(families) {
        for (row, result) in group.rows.iter_mut().zip(members) {
            row.detail = of(&[(0, name, run, result)], false).map(Box::new);
        }
    }
}

/// Adds details to the rows of a table of all rows of a comparison, in their order.
pub(super) fn add_to_pair(table: &mut Table, comparison: &Comparison, runs: &[&Run], names: &[String]) {
    let rows = table.groups.iter_mut().flat_map(|group| &mut group.rows);
    for (row, compared) in rows.zip(&comparison.rows) {
        row.detail = of(&members(compared, runs, names), compared.changed()).map(|mut detail| {
            detail.link = RowLink::of(&compared.key());
            Box::new(detail)
        });
    }
}

/// The results of a row of a comparison.
pub(super) fn members<'a>(row: &CompareRow, runs: &'a [&'a Run], names: &'a [String]) -> Vec<Member<'a>> {
    let each = runs.iter().zip(names).enumerate();
    let found = each.filter_map(|(index, (run, name))| {
        let own = row.ratios.get(index).and_then(|ratio| ratio.parameters.clone());
        let key = model::ResultKey::new(row.benchmark.clone(), own.unwrap_or_else(|| row.parameters.clone()));
        Some((index, name.as_str(), *run, run.result(&key)?))
    });
    found.collect()
}

/// The samples of a result; `None` where too few are kept.
fn samples(members: &[Member<'_>]) -> Option<SamplesPlot> {
    let (.., first) = members.first()?;
    let set = |(colour, name, _, result): &Member<'_>| set(result, name, *colour);
    let sets: Vec<SampleSet> = members.iter().map(set).filter(|set| set.points.len() >= FEWEST).collect();
    let per = if first.metric.per.is_empty() { "operation" } else { &first.metric.per };
    let title = if first.metric.unit == Unit::Seconds { format!("time of one {per}") } else { first.title.clone() };
    let y = ChartAxis { title, unit: first.metric.unit, division: Division::Linear };
    (!sets.is_empty()).then(|| SamplesPlot { y, metric: first.metric.clone(), sets })
}

/// The samples of one result that count.
fn set(result: &BenchmarkResult, name: &str, colour: usize) -> SampleSet {
    let point = |sample: &&Sample| {
        let value = result.value_of(sample).filter(|value| value.is_finite())?;
        Some(SamplePoint { began: sample.began, value, batches: batches(result, sample) })
    };
    let centres = match &result.outcome {
        Outcome::Modes(modes) => modes.iter().map(|mode| (mode.estimate.value, mode.share)).collect(),
        _ => Vec::new(),
    };
    let estimate = result.outcome.estimate();
    SampleSet {
        name: name.to_owned(),
        colour,
        points: result.counted().iter().filter_map(point).collect(),
        estimate: estimate.map(|one| PrintedQuantity::of(one, result.metric.unit).in_metric(&result.metric)),
        centres,
    }
}

/// The ends of most batches of a sample. Values that are differences or clean parts of batches have none.
fn batches(result: &BenchmarkResult, sample: &Sample) -> Option<(f64, f64)> {
    if !matches!(result.basis(), ValueBasis::All | ValueBasis::Raw(_)) || !sample.readings.is_empty() {
        return None;
    }
    let value = |(ops, nanos): (u64, u64)| {
        let seconds = nanos as f64 * 1e-9;
        let operations = ops as f64 * result.amount;
        if result.metric.unit.is_rate() { operations / seconds } else { seconds / operations }
    };
    let mut values: Vec<f64> = sample.batches(result.ops).into_iter().map(value).collect();
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1).filter(|last| *last >= 2)?;
    let median = stats::median(&values)?;
    let at = |share: f64| values[(share * last as f64).round() as usize];
    ((median / sample.value - 1.0).abs() <= SAME).then(|| (at(BATCHES.0), at(BATCHES.1)))
}

/// All samples of the results of one benchmark in a run, each in a colour of its own, named by `name`.
#[must_use]
pub fn samples_of(run: &Run, benchmark: &str, name: impl Fn(&BenchmarkResult) -> String) -> Option<Chart> {
    let found: Vec<&BenchmarkResult> = run.results.iter().filter(|result| result.benchmark == benchmark).collect();
    let names: Vec<String> = found.iter().map(|result| name(result)).collect();
    let members: Vec<Member<'_>> = found
        .iter()
        .zip(&names)
        .enumerate()
        .map(|(colour, (result, name))| (colour, name.as_str(), run, *result))
        .collect();
    let plot = samples(&members)?;
    Some(Chart {
        title: "Every sample".to_owned(),
        about:
            "Left: by time; bands are the intervals. Right: how often each value was, with range, quartiles and median."
                .to_owned(),
        plot: ChartPlot::Samples(plot),
    })
}

/// The samples of one result as a chart with its label.
pub(super) fn chart(member: Member<'_>, title: String) -> Option<Chart> {
    Some(Chart { title, about: String::new(), plot: ChartPlot::Samples(samples(&[member])?) })
}
