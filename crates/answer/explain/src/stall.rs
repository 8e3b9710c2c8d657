//! Time taken from a run between its batches.
//!
//! A limit on CPU time stops a process for most of a scheduling period and does not affect the rest. The median batch
//! does not show that; the mean does. The mean over the median batch, pooled over the samples of a result, shows how
//! much longer the work took than its typical batch: 2 if half the time was taken.

use model::{BenchmarkResult, EstimateMethod, Outcome, ResultKey, Run};

use super::evidence::Evidence;
use super::result::{Cause, Payment};
use super::rules::CPU_LIMIT;
use super::test::ExplainedResult;
use model::words;

/// Fewest results for this analysis.
const FEWEST: usize = 6;
/// Smallest factor that counts: other programs take a few percent.
const LEAST: f64 = 1.10;

/// A cause, if a limit on CPU time differs between the runs and their results show that time was taken.
///
/// The logarithm of B's mean over median minus A's must be wholly beyond `LEAST` by the order-statistic interval over
/// results.
pub(crate) fn stall(
    tests: &[ExplainedResult],
    runs: (&Run, &Run),
    evidence: &Evidence<'_>,
    level: f64,
) -> Option<Cause> {
    let limit = evidence.limit?;
    let mut found: Vec<(usize, f64)> = Vec::new();
    for (index, test) in tests.iter().enumerate() {
        let of = |run: &Run| run.result(&test.key).and_then(taken);
        if let (Some(a), Some(b)) = (of(runs.0), of(runs.1)) {
            found.push((index, (b / a).ln()));
        }
    }
    let logs: Vec<f64> = found.iter().map(|(_, log)| *log).collect();
    let median = stats::median_interval(&logs, level).filter(|_| logs.len() >= FEWEST)?;
    let (low, high) = (median.interval.low, median.interval.high);
    if low < LEAST.ln() && high > -LEAST.ln() || !limit.explains(median.median) {
        return None;
    }
    found.sort_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    let unit = &tests[found[found.len() / 2].0];
    let at = |log: f64| unit.time_a * (log.exp() - 1.0);
    let excess = at(median.median);
    let pays = |(index, log): &(usize, f64)| Payment {
        test: tests[*index].key.clone(),
        excess: tests[*index].time_a * (log.exp() - 1.0),
        factor: log.exp(),
        units: tests[*index].time_a * (log.exp() - 1.0) / excess,
        uses: None,
    };
    let stalled = found.iter().filter(|(_, log)| log.abs() > LEAST.ln());
    Some(Cause {
        title: CPU_LIMIT.to_owned(),
        primitives: vec![model::Primitive::CoreClock],
        unit: unit.key.clone(),
        per: unit.per.clone(),
        excess,
        excess_low: Some(at(low).min(at(high))),
        excess_high: Some(at(low).max(at(high))),
        slowdown: median.median.exp(),
        factor: median.median.exp(),
        at_one_clock: false,
        pays_for: stalled.clone().map(pays).collect(),
        explained: stalled.map(|(_, log)| log.abs()).sum(),
        because: vec![limit.because.clone()],
        inconclusive: Vec::new(),
        known_as: evidence.disturbed.is_none().then(|| CPU_LIMIT.to_owned()),
        rivals: evidence.disturbed.cloned().into_iter().collect(),
        arithmetic: found.iter().map(|(index, log)| line(&tests[*index].key, runs, *log)).collect(),
    })
}

fn line(key: &ResultKey, runs: (&Run, &Run), log: f64) -> String {
    let of = |run: &Run| run.result(key).and_then(taken).map_or_else(String::new, words::digits);
    format!(
        "{key}: mean over median batch {} in B, {} in A: {}x taken away",
        of(runs.1),
        of(runs.0),
        words::digits(log.exp())
    )
}

/// Mean over median batch, pooled over valid samples. Batches of paired results are of two kinds of work and cannot be
/// used.
fn taken(result: &BenchmarkResult) -> Option<f64> {
    let paired = matches!(&result.outcome, Outcome::Measured(e) if e.method == EstimateMethod::PairedOrderStatistic);
    let (mut total, mut typical) = (0.0, 0.0);
    for sample in result.samples.iter().filter(|sample| sample.invalid.is_none() && !paired) {
        let per: Vec<f64> = sample
            .nanos
            .iter()
            .enumerate()
            .map(|(i, nanos)| *nanos as f64 / sample.ops.get(i).map_or(1.0, |ops| (*ops).max(1) as f64))
            .collect();
        total += per.iter().sum::<f64>();
        typical += stats::median(&per).unwrap_or(0.0) * per.len() as f64;
    }
    (typical > 0.0).then(|| total / typical)
}
