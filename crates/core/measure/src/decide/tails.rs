//! Quantiles of single operations over samples.
//!
//! All quantiles of a result are taken from the same parts of the same readings, and all have intervals between the
//! same two order statistics of the parts. They are therefore monotone by construction: in each part a rarer quantile
//! is at least as extreme, and order statistics over the parts preserve that.

use model::{BenchmarkResult, Better, EstimateMethod, QuantileEstimate, RANGE_BELOW, Sample};
use stats::order_statistic::joint_median_intervals;

/// Stored quantiles of a result that is better if lower, if there are enough readings for them; 1 is the maximum.
const LATE: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 1.0];
/// The same if more is better: the tail of a rate is its slow end, 0 the minimum.
const SLOW: [f64; 5] = [0.0, 0.001, 0.01, 0.1, 0.5];

/// Readings of a part of several samples, largest first: enough for 99.9%, 99%, 90%, and for a median.
const PARTS: [usize; 4] = [1000, 100, 10, 1];

/// The quantiles for which a number of readings of single operations suffices, in rising order.
pub(crate) fn of_readings(readings: &[f64], better: Better) -> Vec<(f64, f64)> {
    let enough = |quantile: &f64| {
        let tail = quantile.min(1.0 - quantile);
        tail <= 0.0 || readings.len() as f64 * tail >= 0.999
    };
    let wanted = match better {
        Better::Lower => LATE,
        Better::Higher => SLOW,
    };
    wanted.into_iter().filter(enough).filter_map(|q| Some((q, stats::quantile::quantile(readings, q)?))).collect()
}

/// Quantiles of a result with the intervals that its samples support; none whose level would be that of a range.
pub(crate) fn quantiles(result: &BenchmarkResult, samples: &[&Sample], level: f64) -> Vec<QuantileEstimate> {
    let better = result.metric.better;
    if samples.iter().all(|sample| sample.quantiles.is_empty()) {
        return Vec::new();
    }
    if samples.iter().all(|sample| !sample.readings.is_empty()) {
        let of = |least: usize| over(&parts(samples, least, better), level);
        return PARTS.into_iter().map(of).find(|found| !found.is_empty()).unwrap_or_default();
    }
    // Samples that tighten an interval have none.
    let having = samples.iter().filter(|sample| !sample.quantiles.is_empty());
    over(&having.map(|sample| sample.quantiles.clone()).collect::<Vec<_>>(), level)
}

/// Quantiles of successive groups of samples that have at least `least` readings together.
fn parts(samples: &[&Sample], least: usize, better: Better) -> Vec<Vec<(f64, f64)>> {
    let (mut parts, mut readings) = (Vec::new(), Vec::new());
    for sample in samples {
        readings.extend_from_slice(&sample.readings);
        if readings.len() >= least {
            parts.push(of_readings(&readings, better));
            readings.clear();
        }
    }
    parts
}

/// Estimates over parts. The quantile that is in the fewest parts is dropped while less than half of them have all
/// quantiles.
fn over(parts: &[Vec<(f64, f64)>], level: f64) -> Vec<QuantileEstimate> {
    let at =
        |part: &[(f64, f64)], wanted: f64| part.iter().find(|(q, _)| q.total_cmp(&wanted).is_eq()).map(|(_, v)| *v);
    let mut wanted: Vec<f64> = parts.iter().flatten().map(|(quantile, _)| *quantile).collect();
    wanted.sort_by(f64::total_cmp);
    wanted.dedup();
    while !wanted.is_empty() {
        let whole: Vec<Vec<f64>> =
            parts.iter().filter_map(|part| wanted.iter().map(|q| at(part, *q)).collect()).collect();
        if 2 * whole.len() >= parts.len() {
            return estimates(&wanted, &whole, level).unwrap_or_default();
        }
        let having = |quantile: &f64| parts.iter().filter(|part| at(part, *quantile).is_some()).count();
        let Some(rarest) = (0..wanted.len()).min_by_key(|index| having(&wanted[*index])) else { break };
        wanted.remove(rarest);
    }
    Vec::new()
}

fn estimates(wanted: &[f64], parts: &[Vec<f64>], level: f64) -> Option<Vec<QuantileEstimate>> {
    let columns: Vec<Vec<f64>> = (0..wanted.len()).map(|at| parts.iter().map(|part| part[at]).collect()).collect();
    let found = joint_median_intervals(&columns, level)?;
    let supported = found.iter().all(|one| one.interval.level >= RANGE_BELOW);
    let estimate = |(quantile, one): (&f64, &stats::MedianInterval)| QuantileEstimate {
        quantile: *quantile,
        estimate: one.estimate(parts.len(), 1, EstimateMethod::OrderStatistic),
    };
    supported.then(|| wanted.iter().zip(&found).map(estimate).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn result(better: Better) -> BenchmarkResult {
        let metric = match better {
            Better::Lower => model::Metric::lower(model::Unit::Seconds, "call"),
            Better::Higher => model::Metric::higher(model::Unit::PerSecond, "calls"),
        };
        let key = model::ResultKey::new("os.syscall_write", model::Parameters::none());
        BenchmarkResult::unmeasured(key, "call", metric, model::Class::Compute)
    }

    /// A sample with readings of a heavy tail; `raw` stores them, like a kernel that reads a distribution.
    fn sample(rng: &mut ChaCha8Rng, readings: usize, raw: bool, better: Better) -> Sample {
        let level = 1.0 + 0.2 * rng.random::<f64>();
        let time = |rng: &mut ChaCha8Rng| level * (1.0 - rng.random::<f64>()).powf(-0.7);
        let of = |time: f64| if better == Better::Lower { 1e-6 * time } else { 1e6 / time };
        let readings: Vec<f64> = (0..readings).map(|_| of(time(rng))).collect();
        let quantiles = of_readings(&readings, better);
        Sample { quantiles, readings: if raw { readings } else { Vec::new() }, ..Sample::default() }
    }

    #[test]
    fn quantiles_are_monotone_whatever_the_readings() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut printed, trials) = (0, testing::trials(30, 600));
        for trial in 0..trials {
            let better = if trial % 2 == 0 { Better::Lower } else { Better::Higher };
            let raw = trial % 3 == 0;
            let samples: Vec<Sample> = (0..rng.random_range(1..41))
                .map(|_| {
                    let readings = [20, 300, 700, 1000, 1500][rng.random_range(0..5)];
                    sample(&mut rng, readings, raw, better)
                })
                .collect();
            let found = quantiles(&result(better), &samples.iter().collect::<Vec<_>>(), 0.95);
            printed += found.len();
            for one in &found {
                let estimate = &one.estimate;
                assert!(estimate.level >= RANGE_BELOW && estimate.samples >= 6, "{one:?}");
                assert!(estimate.low <= estimate.value && estimate.value <= estimate.high, "{one:?}");
            }
            for pair in found.windows(2) {
                let (near, far) = (&pair[0].estimate, &pair[1].estimate);
                assert!(pair[0].quantile < pair[1].quantile, "{found:?}");
                assert!(near.value <= far.value && near.low <= far.low && near.high <= far.high, "{found:?}");
            }
            let most = samples.iter().flat_map(|sample| &sample.quantiles).map(|(_, v)| *v).fold(0.0, f64::max);
            assert!(found.iter().all(|one| one.estimate.high <= most), "nothing lies above the largest reading");
        }
        assert!(printed > 3 * trials / 2, "{printed}");
    }

    #[test]
    fn the_tail_of_a_rate_is_its_slow_end() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let samples: Vec<Sample> = (0..20).map(|_| sample(&mut rng, 1200, false, Better::Higher)).collect();
        let found = quantiles(&result(Better::Higher), &samples.iter().collect::<Vec<_>>(), 0.95);
        assert_eq!(found.iter().map(|one| one.quantile).collect::<Vec<_>>(), SLOW);
        assert!(found[1].estimate.value < 0.1 * found[4].estimate.value, "{found:?}");
    }

    #[test]
    fn samples_that_only_refined_a_value_count_for_nothing() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let timed: Vec<Sample> = (0..14).map(|_| sample(&mut rng, 1200, false, Better::Lower)).collect();
        let tightened = Sample::default();
        let with: Vec<&Sample> = timed.iter().chain([&tightened; 90]).collect();
        let found = |samples: &[&Sample]| quantiles(&result(Better::Lower), samples, 0.95);
        assert_eq!(found(&with), found(&timed.iter().collect::<Vec<_>>()));
        assert!(!found(&with).is_empty());
    }

    #[test]
    fn too_few_samples_have_no_quantiles() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for raw in [true, false] {
            let samples: Vec<Sample> = (0..5).map(|_| sample(&mut rng, 1500, raw, Better::Lower)).collect();
            for count in [0, 1, 2, 5] {
                let some: Vec<&Sample> = samples.iter().take(count).collect();
                assert!(quantiles(&result(Better::Lower), &some, 0.95).is_empty(), "{count} samples");
            }
        }
    }
}
