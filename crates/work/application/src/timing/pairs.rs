//! Decides which command of a run is faster.

use std::collections::BTreeMap;

use model::{BenchmarkResult, CHECKPOINTS, Direction, Run, Verdict};
use serde::Serialize;
use stats::equivalence::{EquivalenceVerdict, Floor, RatioEstimate};

use super::{AXIS, RATIO, TIME};
use crate::campaign::AGAINST;
use crate::launch::is_swapped;

/// Two commands of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimedPair {
    /// The one with the smaller median.
    pub faster: String,
    /// The other one.
    pub slower: String,
    /// How many times faster: value, and its interval.
    pub factor: (f64, f64, f64),
    /// Confidence level of the interval.
    pub level: f64,
    /// p-value of "no difference", adjusted for all pairs of the run (Holm).
    pub adjusted_p: f64,
    /// The verdict on `faster`.
    pub verdict: Verdict,
    /// Of a duet: the share of the variance of both sides' times that they had in common, so that it is not in their
    /// ratio; 1 is all, 0 or less is none.
    pub in_common: Option<f64>,
}

/// Fewest samples of either side from which there is a verdict.
pub const FEWEST_SAMPLES: usize = CHECKPOINTS[0] as usize;

/// Compares every two commands of a run that have [`FEWEST_SAMPLES`] samples. They alternated in one session, so only
/// the scatter of their samples counts, without session noise. `band` is the margin, as a logarithm's half-width.
#[must_use]
pub fn timed_pairs(run: &Run, band: f64) -> Vec<TimedPair> {
    let enough = |result: &&BenchmarkResult| result.benchmark == TIME && result.values().len() >= FEWEST_SAMPLES;
    let times: Vec<&BenchmarkResult> = run.results.iter().filter(enough).collect();
    let mut found: Vec<(&BenchmarkResult, &BenchmarkResult, RatioEstimate)> = Vec::new();
    for (at, first) in times.iter().enumerate() {
        for second in &times[at + 1..] {
            let pairs = times.len() * (times.len() - 1) / 2;
            found.extend(shift(run, first, second, pairs).map(|shift| (*first, *second, shift)));
        }
    }
    let adjusted = stats::holm(&found.iter().map(|(_, _, shift)| shift.p_value).collect::<Vec<f64>>());
    let name = |result: &BenchmarkResult| result.parameters.get(AXIS).unwrap_or_default().to_owned();
    let pairs = found.into_iter().zip(adjusted);
    pairs
        .map(|((first, second, shift), p)| {
            let in_common = duet_of(run, first, second).and_then(in_common);
            TimedPair { in_common, ..pair([name(first), name(second)], &shift, p, band) }
        })
        .collect()
}

/// Compares the sides of every ratio of builds that ran side by side, each for itself. `band` as in [`timed_pairs`].
#[must_use]
pub fn build_pairs(run: &Run, band: f64) -> Vec<TimedPair> {
    let ratios = run.results.iter().filter(|result| result.parameters.get("build").is_some());
    let judged = |result: &BenchmarkResult| {
        let names = [result.parameters.get(AGAINST)?.to_owned(), result.parameters.get("build")?.to_owned()];
        // A higher rate is a shorter time.
        let logs: Vec<f64> = result.values().iter().map(|value| -value.ln()).collect();
        if logs.len() < FEWEST_SAMPLES {
            return None;
        }
        let shift = stats::equivalence::compare_pairs(&logs, run.plan.level)?;
        Some(TimedPair { in_common: in_common(result), ..pair(names, &shift, shift.p_value, band) })
    };
    ratios.filter_map(judged).collect()
}

/// A pair from the logarithm of the second's time over the first's.
fn pair([first, second]: [String; 2], shift: &RatioEstimate, adjusted_p: f64, band: f64) -> TimedPair {
    let (low, high) = (shift.interval.low, shift.interval.high);
    let first_is_faster = shift.shift >= 0.0;
    let factor = if first_is_faster { (shift.shift, low, high) } else { (-shift.shift, -high, -low) };
    let (faster, slower) = if first_is_faster { (first, second) } else { (second, first) };
    TimedPair {
        faster,
        slower,
        factor: (factor.0.exp(), factor.1.exp(), factor.2.exp()),
        level: shift.interval.level,
        adjusted_p,
        verdict: match stats::equivalence::verdict(shift, adjusted_p, band) {
            EquivalenceVerdict::Different => Verdict::Different(Some(Direction::Faster)),
            EquivalenceVerdict::NoChange => Verdict::NoChange,
            EquivalenceVerdict::Inconclusive => Verdict::Inconclusive,
        },
        in_common: None,
    }
}

/// Largest p-value of the clearest result, over all pairs of commands, with which differences within rounds are judged:
/// fewer rounds could never show a difference.
const CLEAREST: f64 = 0.01;

/// The ratio of two commands that are the only pair of interest.
pub(super) fn estimate(run: &Run, first: &BenchmarkResult, second: &BenchmarkResult) -> Option<RatioEstimate> {
    shift(run, first, second, 1)
}

/// The ratio of two commands. A duet has ratios. Other commands use the differences within rounds, or with too few
/// rounds all samples of one against all of the other. Only numbers of samples decide which.
fn shift(run: &Run, first: &BenchmarkResult, second: &BenchmarkResult, pairs: usize) -> Option<RatioEstimate> {
    let level = run.plan.level;
    if let Some(ratio) = duet_of(run, first, second) {
        let logs: Vec<f64> = ratio.values().iter().map(|value| value.ln()).collect();
        return stats::equivalence::compare_pairs(&logs, level);
    }
    let differences = by_round(first, second);
    if pairs as f64 * 2.0 * 0.5_f64.powf(differences.len() as f64) <= CLEAREST {
        return stats::equivalence::compare_pairs(&differences, level);
    }
    let logs = |result: &BenchmarkResult| result.values().iter().map(|value| value.ln()).collect::<Vec<f64>>();
    stats::equivalence::compare(&logs(first), &logs(second), Floor::NONE, level)
}

/// Differences of the logarithms of the times in the rounds in which both commands have a sample that counts. Within a
/// round they follow each other at once, in random order: what lasts longer than a round is not in their difference.
fn by_round(first: &BenchmarkResult, second: &BenchmarkResult) -> Vec<f64> {
    let of = |result: &BenchmarkResult| -> BTreeMap<u32, f64> {
        let counted = result.counted().into_iter();
        counted.filter_map(|sample| Some((sample.round, result.value_of(sample)?.ln()))).collect()
    };
    let first = of(first);
    of(second).into_iter().filter_map(|(round, value)| Some(value - first.get(&round)?)).collect()
}

/// The result of two commands that ran side by side.
fn duet_of<'a>(run: &'a Run, first: &BenchmarkResult, second: &BenchmarkResult) -> Option<&'a BenchmarkResult> {
    let (first, second) = (first.parameters.get(AXIS), second.parameters.get(AXIS));
    let is = |result: &&BenchmarkResult| {
        result.benchmark == RATIO && result.parameters.get(AXIS) == second && result.parameters.get(AGAINST) == first
    };
    run.results.iter().find(is)
}

/// Share of the variance of both sides' times that they have in common: one minus the variance of their differences
/// over the sum of their own. `None` if a sample is not two halves, or nothing varies.
fn in_common(ratio: &BenchmarkResult) -> Option<f64> {
    // By half and by the CPU of the first side; the halves of a sample are in reverse order in every other round.
    let mut halves: [Vec<[f64; 2]>; 2] = Default::default();
    for sample in ratio.counted() {
        let sides: Vec<[f64; 2]> =
            sample.nanos.chunks_exact(2).map(|two| [(two[0] as f64).ln(), (two[1] as f64).ln()]).collect();
        for (half, logs) in (0..).zip(sides) {
            halves[usize::from(is_swapped(sample.round, half))].push(logs);
        }
    }
    let (mut apart, mut own) = (0.0, 0.0);
    for logs in &halves {
        let variance = |of: &dyn Fn(&[f64; 2]) -> f64| {
            let row: Vec<f64> = logs.iter().map(of).collect();
            stats::quantile::standard_deviation(&row).map(|deviation| deviation * deviation)
        };
        apart += variance(&|[first, second]| second - first)?;
        own += variance(&|[first, _]| *first)? + variance(&|[_, second]| *second)?;
    }
    (own > 0.0).then(|| 1.0 - apart / own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Metric, Parameters, Sample, Unit};

    /// A run of commands whose times scatter by 3% around their centres.
    fn run(centres: &[f64], samples: usize, seed: u64) -> Run {
        let mut run = crate::document("time", 1, 0.02, None, std::env::temp_dir());
        let mut rng = stats::simulate::generator(seed);
        for (at, centre) in centres.iter().enumerate() {
            let parameters = Parameters::none().with(AXIS, at.to_string());
            let metric = Metric::lower(Unit::Seconds, "execution");
            let mut result = crate::campaign::result(TIME.to_owned(), parameters, "time".to_owned(), metric);
            let value = |_| centre * (0.03 * stats::simulate::standard_normal(&mut rng)).exp();
            let sample = |(round, value)| Sample { round, value, steady: true, ..Sample::default() };
            result.samples = (0..).zip((0..samples).map(value)).map(sample).collect();
            run.results.push(result);
        }
        run
    }

    #[test]
    fn equal_commands_are_rarely_different_and_a_tenth_is_found() {
        let trials = 300;
        let (mut false_alarms, mut found) = (0, 0);
        for seed in 0..trials {
            let pairs = timed_pairs(&run(&[1.0, 1.0, 1.1], 20, seed), 0.02_f64.ln_1p());
            assert_eq!(pairs.len(), 3);
            let different = |a: &str, b: &str| {
                let of = |pair: &&TimedPair| {
                    [pair.faster.as_str(), pair.slower.as_str()].iter().all(|name| [a, b].contains(name))
                };
                pairs.iter().find(of).is_some_and(|pair| pair.verdict.differs())
            };
            false_alarms += u32::from(different("0", "1"));
            found += u32::from(different("0", "2"));
        }
        // 5% is the promise for a difference of exactly 2%; between equals it is far rarer.
        assert!(false_alarms <= 6, "{false_alarms} of {trials}");
        assert!(found >= 285, "{found} of {trials}");
    }

    #[test]
    fn the_factor_is_above_one_and_of_the_faster_command() {
        for centres in [[1.0, 2.0], [2.0, 1.0]] {
            let pair = timed_pairs(&run(&centres, 20, 7), 0.02).remove(0);
            assert_eq!(pair.faster, if centres[0] < centres[1] { "0" } else { "1" });
            let (value, low, high) = pair.factor;
            assert!(low < value && value < high && (value - 2.0).abs() < 0.1, "{:?}", pair.factor);
        }
    }

    /// A duet of two commands, whose second takes 2% longer. Both vary by `common` together and by 0.2% each, and one
    /// CPU is slower than the other.
    fn duet(common: f64, seed: u64) -> Run {
        let mut run = run(&[1.0, 1.02], 14, seed);
        let mut rng = stats::simulate::generator(seed + 1000);
        let mut result = super::super::duet::ratio_result(["0", "1"], [0, 1]);
        for round in 0..14_u32 {
            let half = |half: u32| {
                let together = common * stats::simulate::standard_normal(&mut rng);
                let mut own = || 0.002 * stats::simulate::standard_normal(&mut rng);
                let slower = if (half + round) % 2 == 1 { 0.05 } else { -0.05 };
                [(together + own() + slower).exp(), 1.02 * (together + own() - slower).exp()]
            };
            let walls: Vec<[f64; 2]> = (0..2).map(half).collect();
            let value = walls.iter().map(|[first, second]| (second / first).ln()).sum::<f64>() / 2.0;
            let nanos = walls.iter().flatten().map(|wall| (wall * 1e9) as u64).collect();
            result.samples.push(Sample { round, value: value.exp(), nanos, steady: true, ..Sample::default() });
        }
        run.results.push(result);
        run
    }

    #[test]
    fn a_duet_is_judged_by_its_ratio_and_tells_what_the_sides_had_in_common() {
        let pair = timed_pairs(&duet(0.05, 1), 0.01).remove(0);
        assert_eq!((pair.faster.as_str(), pair.verdict.differs()), ("0", true));
        assert!((pair.factor.0 - 1.02).abs() < 0.003, "{:?}", pair.factor);
        assert!(pair.in_common.is_some_and(|share| share > 0.9), "{:?}", pair.in_common);
        let apart = timed_pairs(&duet(0.0, 2), 0.01).remove(0).in_common;
        assert!(apart.is_some_and(|share| share.abs() < 0.6), "{apart:?}");
        // Without the duet's result the turns say nothing at this scatter.
        let mut turns = duet(0.05, 1);
        turns.results.pop();
        let pair = timed_pairs(&turns, 0.01).remove(0);
        assert_eq!((pair.verdict, pair.in_common), (Verdict::Inconclusive, None));
    }
}
