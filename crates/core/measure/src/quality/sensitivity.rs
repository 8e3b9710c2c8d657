//! Effect of the thresholds on a value: the same samples with stricter thresholds for batches.

use model::{BenchmarkResult, RULES, ValueBasis};

use super::batch::CleanRule;
use super::sample::{clean_batches, clocks};

/// Distances from the ratio of the exclusive core, and between two readings of the clock, that are tried instead of the
/// defaults.
const WITHIN: [f64; 3] = [0.01, 0.02, 0.05];

/// Largest relative difference of the value of a result under another threshold. `None` if nothing is filtered, or too
/// few samples remain. The samples are the valid ones, each with the batches that remain under the other threshold.
pub(super) fn sensitivity(result: &BenchmarkResult, paired: bool) -> Option<f64> {
    let exclusive = &result.sensors.as_ref()?.exclusive;
    let usual = (!exclusive.is_empty()).then(|| CleanRule::new(exclusive.clone()))?;
    let cycles = match result.basis() {
        ValueBasis::Cycles => true,
        ValueBasis::Clean => false,
        ValueBasis::Raw(_) | ValueBasis::All => return None,
    };
    let median_by = |within: Option<f64>| {
        let rule = within.map_or_else(|| usual.clone(), |within| usual.within(within));
        let value = |sample: &&model::Sample| {
            let clocks = clocks(&rule, sample.sensors.as_ref()?, &sample.batches(result.ops), paired);
            let found = clean_batches(&clocks, result, sample, paired);
            if found.batches < RULES.quality.fewest_batches {
                return None;
            }
            if cycles { found.cycles } else { found.value }
        };
        let values: Vec<f64> = result.counted().iter().filter_map(value).collect();
        stats::median(&values).filter(|_| values.len() >= RULES.quality.fewest_samples as usize)
    };
    let own = median_by(None)?;
    let others = WITHIN.into_iter().filter_map(|within| median_by(Some(within)));
    others.map(|other| (other / own - 1.0).abs()).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::super::sample::tests::{CORE, classify, result, sample, session};
    use super::*;

    #[test]
    fn a_value_that_hangs_on_the_threshold_says_so() {
        let mut steady = result(CORE, (0..12).map(|at| sample(at, 3.0, 0)).collect());
        classify(&mut steady, &session(Some(0.25)));
        assert!(sensitivity(&steady, false).is_some_and(|found| found < 1e-6));
        // During half of the batches another thread has a weak effect, 3% by the sensors, and slows them by a tenth.
        let weak = |at: u32| {
            let mut one = sample(at, 3.0, 0);
            let readings = &mut one.sensors.as_mut().unwrap().tracks[0].contention.0;
            readings.iter_mut().skip(10).for_each(|nanos| *nanos = (f64::from(*nanos) * 1.03) as u32);
            one.nanos.iter_mut().skip(9).for_each(|nanos| *nanos += *nanos / 10);
            one
        };
        let mut leaning = result(CORE, (0..12).map(weak).collect());
        classify(&mut leaning, &session(Some(0.25)));
        assert!(sensitivity(&leaning, false).is_some_and(|found| found > 0.05), "{:?}", sensitivity(&leaning, false));
        assert_eq!(sensitivity(&result(CORE, Vec::new()), false), None);
    }
}
