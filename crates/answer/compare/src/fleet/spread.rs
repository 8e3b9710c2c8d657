//! Finds outliers among equal machines.
//!
//! Every node is compared with the most typical one by the rules of [`crate::compare`]: intervals of samples, session
//! noise, the margin, and Holm's adjustment over the whole report. If nearly all differ from the typical node in a
//! result, that node is the outlier there.

use model::{Estimate, Run};

use super::result::{FleetSpread, OutlierNode, OutlierResult, ResultSpread};
use crate::Error;
use crate::{CompareOptions, CompareRow, Normalise, compare};

/// Compares equal machines; `names` are those of the nodes, in the order of the runs.
///
/// # Errors
/// As for [`compare()`]: fewer than one run, or no result that two of them share.
pub fn spread(runs: &[&Run], names: &[String], options: &CompareOptions<'_>) -> Result<FleetSpread, Error> {
    let typical = typical(runs);
    let reference = runs.get(typical).map(|run| run.id.clone());
    let options =
        CompareOptions { reference, across: Vec::new(), normalise: Normalise::Gain, sort_by: None, ..options.clone() };
    let comparison = compare(runs, &options)?;
    let mut outliers: Vec<OutlierNode> = Vec::new();
    let results = comparison
        .rows
        .iter()
        .filter_map(|row| {
            let result = result(row, names, typical)?;
            for node in &result.outliers {
                note(&mut outliers, node, row, names, typical);
            }
            Some(result)
        })
        .collect();
    for node in &mut outliers {
        node.results.sort_by(|a, b| b.gain.ln().abs().total_cmp(&a.gain.ln().abs()));
    }
    outliers.sort_by_key(|node| std::cmp::Reverse(node.results.len()));
    Ok(FleetSpread {
        nodes: names.to_vec(),
        typical: names[typical].clone(),
        tests: comparison.tests,
        results,
        outliers,
    })
}

/// The most typical run: least sum of distances of logarithms from the median of each result.
fn typical(runs: &[&Run]) -> usize {
    let mut distance = vec![0.0; runs.len()];
    let mut keys: Vec<_> = runs.iter().flat_map(|run| run.results.iter().map(model::BenchmarkResult::key)).collect();
    keys.sort_by_key(ToString::to_string);
    keys.dedup();
    for key in keys {
        let logs: Vec<Option<f64>> = runs
            .iter()
            .map(|run| run.result(&key)?.outcome.estimate().map(|one| one.value).filter(|value| *value > 0.0))
            .map(|value| value.map(f64::ln))
            .collect();
        let known: Vec<f64> = logs.iter().flatten().copied().collect();
        let Some(median) = stats::median(&known) else { continue };
        for (sum, log) in distance.iter_mut().zip(&logs) {
            // A missing result counts as a large distance. One result counts 20% at most.
            *sum += log.map_or(0.2, |log| (log - median).abs().min(0.2));
        }
    }
    (0..runs.len()).min_by(|a, b| distance[*a].total_cmp(&distance[*b])).unwrap_or(0)
}

fn result(row: &CompareRow, names: &[String], typical: usize) -> Option<ResultSpread> {
    let values: Vec<Option<Estimate>> =
        row.ratios.iter().map(|ratio| ratio.outcome.as_ref()?.estimate().copied()).collect();
    let mut known: Vec<Estimate> = values.iter().flatten().copied().collect();
    known.sort_by(|a, b| a.value.total_cmp(&b.value));
    let [least, .., most] = known[..] else { return None };
    let different: Vec<usize> = (0..row.ratios.len()).filter(|node| row.ratios[*node].differs()).collect();
    let judged = row.ratios.iter().filter(|ratio| ratio.verdict.is_some()).count();
    let outliers = if judged < 2 {
        Vec::new()
    } else if different.len() == judged && one_way(row, &different) {
        vec![typical]
    } else if 2 * different.len() <= judged {
        different.clone()
    } else {
        Vec::new()
    };
    let named = |nodes: Vec<usize>| nodes.into_iter().map(|node| names[node].clone()).collect();
    Some(ResultSpread {
        benchmark: row.benchmark.clone(),
        parameters: row.parameters.clone(),
        title: row.title.clone(),
        metric: row.metric.clone(),
        median: stats::median(&known.iter().map(|one| one.value).collect::<Vec<f64>>())?,
        least,
        most,
        range: if least.value > 0.0 { most.value / least.value - 1.0 } else { 0.0 },
        values,
        different: named(different),
        outliers: named(outliers),
    })
}

/// Whether all of these nodes are on the same side.
fn one_way(row: &CompareRow, nodes: &[usize]) -> bool {
    let above = nodes.iter().filter(|node| row.ratios[**node].value.is_some_and(|value| value > 1.0)).count();
    above == 0 || above == nodes.len()
}

fn note(outliers: &mut Vec<OutlierNode>, node: &str, row: &CompareRow, names: &[String], typical: usize) {
    let place = names.iter().position(|name| name == node).unwrap_or(typical);
    // The typical node is compared with the median one of those that differ from it.
    let (other, turned) = if place == typical {
        let mut others: Vec<usize> = (0..names.len()).filter(|other| row.ratios[*other].verdict.is_some()).collect();
        others.sort_by(|a, b| {
            row.ratios[*a].value.partial_cmp(&row.ratios[*b].value).unwrap_or(std::cmp::Ordering::Equal)
        });
        (others[others.len() / 2], true)
    } else {
        (place, false)
    };
    let cell = &row.ratios[other];
    let Some(value) = cell.value else { return };
    let interval = cell.low.zip(cell.high).filter(|(low, _)| *low > 0.0);
    let gain = if turned { 1.0 / value } else { value };
    let found = OutlierResult {
        result: row.key(),
        title: row.title.clone(),
        unit: row.metric.unit,
        gain,
        interval: interval.map(|(low, high)| if turned { (1.0 / high, 1.0 / low) } else { (low, high) }),
        worse: gain < 1.0,
    };
    let baseline = if turned { &names[other] } else { &names[typical] };
    match outliers.iter_mut().find(|one| one.node == node) {
        Some(one) => one.results.push(found),
        None => outliers.push(OutlierNode { node: node.to_owned(), baseline: baseline.clone(), results: vec![found] }),
    }
}
