//! Difference of a paired sample, and the result of the same method for two equal kernels.

use model::{Metric, Sample, TimedBatch, split_pairs, work_first};

/// Work minus overhead of one sample in the unit of the result. `ops` and `amount` are those of the result.
pub(crate) fn difference(sample: &Sample, metric: &Metric, ops: u64, amount: f64) -> Option<f64> {
    difference_of(&values(sample, metric, ops, amount))
}

/// The same from the values of all batches in the order of time. A pair counts if both of its batches do.
pub(crate) fn difference_of(values: &[Option<f64>]) -> Option<f64> {
    let (work, overhead) = split_pairs(values);
    of_pairs(&work, &overhead)
}

/// The same for a null pair: every other overhead batch, in the order of time, takes the part of the work. They are as
/// close to each other as work and overhead, so drift affects them equally. There are half as many pairs, so the method
/// never appears more precise than it is.
pub(crate) fn null_difference_of(values: &[Option<f64>]) -> Option<f64> {
    let (_, overhead) = split_pairs(values);
    let (one, other) = split_pairs(&overhead);
    of_pairs(&one, &other)
}

/// Number of pairs whose batches are both used, and of all pairs.
pub(crate) fn complete(values: &[Option<f64>]) -> (u32, u32) {
    let (work, overhead) = split_pairs(values);
    let both = work.iter().zip(&overhead).filter(|(work, overhead)| work.is_some() && overhead.is_some()).count();
    let count = |pairs: usize| u32::try_from(pairs).unwrap_or(u32::MAX);
    (count(both), count(work.len()))
}

fn values(sample: &Sample, metric: &Metric, ops: u64, amount: f64) -> Vec<Option<f64>> {
    let value = |(ops, nanos): &TimedBatch| Some(metric.value(*ops as f64 * amount, *nanos as f64));
    sample.batches(ops).iter().map(value).collect()
}

fn of_pairs(work: &[Option<f64>], overhead: &[Option<f64>]) -> Option<f64> {
    let (mut where_work_first, mut where_overhead_first) = (Vec::new(), Vec::new());
    for (pair, (work, overhead)) in work.iter().zip(overhead).enumerate() {
        let side = if work_first(pair) { &mut where_work_first } else { &mut where_overhead_first };
        side.extend(work.zip(*overhead).map(|(work, overhead)| work - overhead));
    }
    stats::difference::of_sample(&where_work_first, &where_overhead_first)
}

#[cfg(test)]
mod tests {
    use model::Unit;

    use super::*;

    /// Batches of `pairs` pairs: 1000 ns of work and 800 ns of overhead, each longer than the one before by `drift`.
    fn sample(pairs: usize, drift: f64) -> Sample {
        let time = |at: usize| {
            let work = work_first(at / 2) == at.is_multiple_of(2);
            (if work { 1000.0 } else { 800.0 } + drift * at as f64) as u64
        };
        Sample { nanos: (0..2 * pairs).map(time).collect(), ..Sample::default() }
    }

    /// Both differences in nanoseconds.
    fn found(sample: &Sample) -> (f64, f64) {
        let metric = Metric::lower(Unit::Seconds, "switch");
        let nanos = |value: Option<f64>| (value.unwrap_or(f64::NAN) * 1e12).round() / 1e3;
        let null = null_difference_of(&values(sample, &metric, 1, 1.0));
        (nanos(difference(sample, &metric, 1, 1.0)), nanos(null))
    }

    #[test]
    fn drift_within_a_sample_does_not_bias_a_difference() {
        for (pairs, drift) in [(20, 0.0), (20, 5.0), (20, 40.0), (20, -10.0), (4, 25.0), (6, 25.0)] {
            assert_eq!(found(&sample(pairs, drift)), (200.0, 0.0), "{pairs} pairs, {drift} ns a batch");
        }
    }

    #[test]
    fn without_pairs_there_is_no_difference() {
        let metric = Metric::lower(Unit::Seconds, "switch");
        assert_eq!(difference(&Sample::default(), &metric, 1, 1.0), None);
        assert_eq!(null_difference_of(&values(&sample(1, 0.0), &metric, 1, 1.0)), None);
    }

    #[test]
    fn a_pair_counts_where_both_of_its_batches_do() {
        let nano = |value: f64| Some(value);
        let row = [nano(10.0), nano(4.0), None, nano(10.0), nano(12.0), nano(6.0)];
        assert_eq!(complete(&row), (2, 3));
        assert_eq!(difference_of(&row), Some(6.0));
        assert_eq!(difference_of(&[None, nano(1.0)]), None);
    }
}
