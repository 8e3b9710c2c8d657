//! When a result has had enough samples.
//!
//! Testing after every sample and stopping at a good result gives intervals that cover far less than their level
//! (Armitage, McPherson and Rowe, Journal of the Royal Statistical Society A 132, 1969). Checkpoints are few and fixed,
//! and a result converges only if an interval of a higher level than the requested one is within its target.
//!
//! Reason: an interval at 95% is narrow by chance in one run of many, and for a result that seldom reaches its target
//! most such runs are chance. If a result converges in a share `p` of all runs, and the interval used for this decision
//! misses in a share `a`, at most `a / p` of the decisions are wrong. So `a` must be small compared with any `p` worth
//! reporting. The deciding interval is also the printed one, since a narrower one inside it would miss more often.

use model::{Estimate, RULES};

use crate::autocorrelation::usual_inflation;
use crate::interval::Interval;
use crate::modes::{FastBatches, ModeGroup, modes_of_samples};
use crate::order_statistic::{MedianInterval, inflated_median_ranks, sample_median_interval, sample_median_range};
use crate::quantile::quantile;

/// Default target of a result: half-width of the interval as a logarithm, 2%.
pub const TARGET: f64 = RULES.estimate.target;

/// Least level of the interval that decides convergence.
pub const CALLING_LEVEL: f64 = RULES.estimate.deciding_level;

/// Checkpoints before order statistics can reach [`CALLING_LEVEL`]. The factor widens the extremes of the samples, away
/// from their median, before they are compared with the target and printed.
///
/// The factors are chosen by resampling recorded samples: intervals that decide then cover in 99% of the runs of
/// undisturbed results, in the order of time too (`measure::sensors` has the test). With fewer than eight samples on
/// both sides no difference would be significant over the results of a whole comparison.
const EARLY: [(usize, f64); 2] = [(8, RULES.estimate.widening_of_8), (10, RULES.estimate.widening_of_10)];

/// Result of a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointResult {
    /// Interval of the median at the requested level, or at [`CALLING_LEVEL`] if the result converged; `None` when the
    /// samples are too few for it at their autocorrelation.
    pub interval: Option<MedianInterval>,
    /// Groups of samples at different levels; with more than one, no single number describes the result.
    pub modes: Vec<ModeGroup>,
    /// Whether the result has converged: the interval at [`CALLING_LEVEL`] is within the target, and there is one mode.
    pub converged: bool,
    /// Whether it did so early: the interval lies between widened extremes of few samples.
    pub early: bool,
}

/// Evaluates positive sample values in the order of time. `batches` holds the known batches of each sample; it is empty
/// or as long as `values`. `target` is the wanted half-width of the interval as a logarithm, such as [`TARGET`];
/// `level` its confidence.
pub fn decide_at_checkpoint(
    values: &[f64],
    batches: &[Option<FastBatches>],
    target: f64,
    level: f64,
) -> CheckpointResult {
    let modes = modes_of_samples(values, batches);
    let called = calling_interval(values, level).filter(|found| is_within(found, target));
    let converged = called.is_some() && modes.len() == 1;
    let interval = called.filter(|_| converged).or_else(|| sample_median_interval(values, level));
    CheckpointResult { interval, modes, converged, early: false }
}

/// Like [`decide_at_checkpoint`], for samples that were freed of outside disturbance: after 8 and 10 of them a result may
/// also converge by their widened extremes.
pub fn decide_on_clean(values: &[f64], batches: &[Option<FastBatches>], target: f64, level: f64) -> CheckpointResult {
    let checkpoint = decide_at_checkpoint(values, batches, target, level);
    let early = early_interval(values, level).filter(|found| is_within(found, target) && checkpoint.modes.len() == 1);
    match early {
        Some(found) if !checkpoint.converged => {
            CheckpointResult { interval: Some(found), converged: true, early: true, ..checkpoint }
        }
        _ => checkpoint,
    }
}

fn is_within(found: &MedianInterval, target: f64) -> bool {
    let Interval { low, high, level } = found.interval;
    Estimate::of_samples(found.median, (low, high), level, 0).is_narrow(target)
}

/// The extremes of few samples, widened; its level is [`CALLING_LEVEL`]. `None` for fewer samples than at the first
/// early checkpoint, for enough of them for order statistics, and if a higher level is wanted. Numbers between two
/// checkpoints occur where samples are evaluated again after the last one.
fn early_interval(values: &[f64], level: f64) -> Option<MedianInterval> {
    let (_, factor) = EARLY.iter().rfind(|(samples, _)| *samples <= values.len())?;
    let few = fewest_samples(level).is_none_or(|enough| values.len() < enough);
    let range = sample_median_range(values).filter(|_| few && level <= CALLING_LEVEL)?;
    let widened = |end: f64| range.median + factor * (end - range.median);
    let (low, high) = (widened(range.interval.low), widened(range.interval.high));
    (low > 0.0).then(|| MedianInterval { interval: Interval::new(low, high, CALLING_LEVEL), ..range })
}

/// Expected relative half-width of the deciding interval after this many samples, if they are distributed like these
/// values. `None` for fewer samples than it needs, or without values.
#[must_use]
pub fn expected_half_width(values: &[f64], samples: usize, level: f64) -> Option<f64> {
    let ranks = inflated_median_ranks(samples, level.max(CALLING_LEVEL), usual_inflation())?;
    let at = |rank: usize| quantile(values, (rank as f64 - 0.5) / samples as f64);
    let (low, middle, high) = (at(ranks.low)?, quantile(values, 0.5)?, at(ranks.high)?);
    (middle > 0.0).then(|| (high - low) / 2.0 / middle)
}

/// The interval that must be within the target for convergence. `level` is the plan's.
fn calling_interval(values: &[f64], level: f64) -> Option<MedianInterval> {
    sample_median_interval(values, level.max(CALLING_LEVEL))
}

/// Fewest samples with which a result can converge, however small its spread.
pub fn fewest_samples(level: f64) -> Option<usize> {
    (2..100).find(|&n| inflated_median_ranks(n, level.max(CALLING_LEVEL), usual_inflation()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, generator};

    #[test]
    fn a_quiet_result_converges_and_one_with_modes_does_not() {
        let quiet = [1.0, 1.01, 0.99, 1.005, 0.995, 1.0, 1.01, 0.99, 1.0, 1.002, 0.998, 1.001, 0.999, 1.003];
        let seen = decide_at_checkpoint(&quiet, &[], TARGET, 0.95);
        assert!(seen.converged && seen.interval.unwrap().interval.level >= CALLING_LEVEL);
        assert!(!decide_at_checkpoint(&quiet[..7], &[], TARGET, 0.95).converged, "seven samples call nothing");
        assert!(!decide_at_checkpoint(&quiet, &[], 0.001, 0.95).converged);
        let tight = [6.5, 70.0, 6.5, 6.5, 70.1, 6.5, 6.5, 69.0, 6.5, 70.5];
        let seen = decide_at_checkpoint(&tight, &[], TARGET, 0.95);
        assert!(seen.modes.len() == 2 && !seen.converged);
        assert!(!decide_at_checkpoint(&quiet[..5], &[], TARGET, 0.95).converged);
    }

    #[test]
    fn few_clean_samples_converge_if_they_are_far_within_the_target() {
        let spread = |half: f64, n: usize| -> Vec<f64> {
            (0..n).map(|at| 1.0 + half * (2.0 * ((at * 3) % n) as f64 / (n - 1) as f64 - 1.0)).collect()
        };
        let eight = spread(0.99 * 0.008, 8);
        let checkpoint = decide_on_clean(&eight, &[], TARGET, 0.95);
        let found = checkpoint.interval.unwrap();
        assert!(checkpoint.converged && checkpoint.early && found.interval.level >= CALLING_LEVEL, "{found:?}");
        assert!((found.interval.half_width() - 0.99 * TARGET).abs() < 1e-6, "widened to {found:?}");
        assert!(!decide_on_clean(&spread(1.1 * 0.008, 8), &[], TARGET, 0.95).converged);
        assert!(!decide_at_checkpoint(&eight, &[], TARGET, 0.95).converged, "observed samples do not");
        assert!(!decide_on_clean(&spread(0.0001, 7), &[], TARGET, 0.95).converged, "seven are no checkpoint");
        let checkpoint = decide_on_clean(&spread(0.001, 14), &[], TARGET, 0.95);
        assert!(checkpoint.converged && !checkpoint.early);
    }

    #[test]
    fn a_fifth_of_the_samples_at_another_level_soon_leaves_the_interval() {
        let levels: Vec<f64> =
            (0..25).map(|at| if at % 5 == 0 { 1.125 } else { 1.0 + 0.0005 * f64::from(at) }).collect();
        let expected = |samples| expected_half_width(&levels, samples, 0.95).unwrap();
        assert!(expected(14) > 0.05 && expected(80) < 0.01, "{} and {}", expected(14), expected(80));
        // Evenly spread values follow the root law.
        let even: Vec<f64> = (0..101).map(|at| 1.0 + 0.001 * f64::from(at)).collect();
        let ratio = expected_half_width(&even, 20, 0.95).unwrap() / expected_half_width(&even, 80, 0.95).unwrap();
        assert!((1.7..2.2).contains(&ratio), "{ratio}");
        assert_eq!(expected_half_width(&levels, 8, 0.95), None, "no order statistics cover");
        assert_eq!(expected_half_width(&[], 20, 0.95), None);
    }

    /// The half-width and whether the interval covers, for a core result that is tightened: it continues until a
    /// checkpoint is within a fourth of the target, or to `most` samples.
    fn refined(noise: &Noise, most: usize, seed: u64) -> (f64, bool) {
        let values = noise.samples(most, &mut generator(seed));
        let mut target = TARGET;
        let mut last = None;
        for checkpoint in model::CHECKPOINTS
            .map(|checkpoint| checkpoint as usize)
            .into_iter()
            .filter(|checkpoint| *checkpoint <= most)
        {
            let mut found = decide_on_clean(&values[..checkpoint], &[], target, 0.95);
            if found.converged && target == TARGET {
                target = TARGET / 4.0;
                let finer = decide_on_clean(&values[..checkpoint], &[], target, 0.95);
                if finer.converged {
                    found = finer;
                }
            }
            let narrow = found.interval.as_ref().is_some_and(|one| is_within(one, TARGET / 4.0));
            let ended = found.converged && narrow;
            last = Some(found);
            if ended {
                break;
            }
        }
        let found = last.unwrap().interval.unwrap();
        (found.interval.relative_half_width(), (found.interval.low..=found.interval.high).contains(&1.0))
    }

    #[test]
    fn intervals_of_refined_results_cover() {
        for spread in [0.002, 0.004, 0.008, 0.012] {
            let noise = Noise { between: spread, disturbed: 0.0, ..Noise::stable(1.0) };
            let all: Vec<_> = (0..2000).map(|seed| refined(&noise, 80, seed)).collect();
            let covered = all.iter().filter(|(_, covered)| *covered).count();
            // Three standard errors below 95% of two thousand.
            assert!(covered >= 1871, "samples that scatter by {spread}: {covered} of 2000");
        }
    }

    #[test]
    fn fewest_samples_of_a_level() {
        assert_eq!(fewest_samples(0.95), Some(12));
    }
}
