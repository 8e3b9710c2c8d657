//! Difference of a paired launch, and the result of the same method for two equal kernels.

use model::{Launch, Metric, PairOrder, TimedBatch};

/// Work minus overhead of one launch in the unit of the figure. `ops` and `amount` are those of the figure.
pub(crate) fn difference(launch: &Launch, metric: &Metric, ops: u64, amount: f64) -> Option<f64> {
    difference_of(&values(launch, metric, ops, amount), launch.pair_order)
}

/// The same from the values of all batches in the order of time; a pair is used if both of its batches are.
pub(crate) fn difference_of(values: &[Option<f64>], order: PairOrder) -> Option<f64> {
    let (work, overhead) = order.split(values);
    of_pairs(&work, &overhead, order)
}

/// The same for a null pair: the overhead batches in the order of time, as if every other one of them, in the order of
/// the launch, were the work. They are as close to each other as work and overhead, drift affects them equally, and
/// there are half as many pairs, so that the method never appears more precise than it is.
pub(crate) fn null_difference_of(values: &[Option<f64>], order: PairOrder) -> Option<f64> {
    let (_, overhead) = order.split(values);
    let (one, other) = order.split(&overhead);
    of_pairs(&one, &other, order)
}

/// Number of pairs whose batches are both used, and of all pairs.
pub(crate) fn complete(values: &[Option<f64>], order: PairOrder) -> (u32, u32) {
    let (work, overhead) = order.split(values);
    let both = work.iter().zip(&overhead).filter(|(work, overhead)| work.is_some() && overhead.is_some()).count();
    let count = |pairs: usize| u32::try_from(pairs).unwrap_or(u32::MAX);
    (count(both), count(work.len()))
}

fn values(launch: &Launch, metric: &Metric, ops: u64, amount: f64) -> Vec<Option<f64>> {
    let value = |(ops, nanos): &TimedBatch| Some(metric.value(*ops as f64 * amount, *nanos as f64));
    launch.batches(ops).iter().map(value).collect()
}

fn of_pairs(work: &[Option<f64>], overhead: &[Option<f64>], order: PairOrder) -> Option<f64> {
    let (mut work_first, mut overhead_first) = (Vec::new(), Vec::new());
    for (pair, (work, overhead)) in work.iter().zip(overhead).enumerate() {
        let side = if order.work_first(pair) { &mut work_first } else { &mut overhead_first };
        side.extend(work.zip(*overhead).map(|(work, overhead)| work - overhead));
    }
    stats::difference::of_launch(&work_first, &overhead_first)
}

#[cfg(test)]
mod tests {
    use model::Unit;

    use super::*;

    /// Batches of `pairs` pairs in an order: 1000 ns of work and 800 ns of overhead, each longer than the one before by
    /// `drift`.
    fn launch(order: PairOrder, pairs: usize, drift: f64) -> Launch {
        let time = |at: usize| {
            let work = order.work_first(at / 2) == at.is_multiple_of(2);
            (if work { 1000.0 } else { 800.0 } + drift * at as f64) as u64
        };
        Launch { nanos: (0..2 * pairs).map(time).collect(), pair_order: order, ..Launch::default() }
    }

    /// Both differences in nanoseconds.
    fn found(launch: &Launch) -> (f64, f64) {
        let metric = Metric::lower(Unit::Seconds, "switch");
        let nanos = |value: Option<f64>| (value.unwrap_or(f64::NAN) * 1e12).round() / 1e3;
        let null = null_difference_of(&values(launch, &metric, 1, 1.0), launch.pair_order);
        (nanos(difference(launch, &metric, 1, 1.0)), nanos(null))
    }

    #[test]
    fn drift_within_a_launch_biases_alternation_and_leaves_abba_alone() {
        for (pairs, drift) in [(20, 0.0), (20, 5.0), (20, 40.0), (20, -10.0), (4, 25.0), (6, 25.0)] {
            assert_eq!(
                found(&launch(PairOrder::Abba, pairs, drift)),
                (200.0, 0.0),
                "{pairs} pairs, {drift} ns a batch"
            );
            let alternating = found(&launch(PairOrder::Alternating, pairs, drift));
            assert_eq!(alternating, (200.0 - drift, 0.0 - 2.0 * drift), "{pairs} pairs, {drift} ns a batch");
        }
    }

    #[test]
    fn without_pairs_there_is_no_difference() {
        let metric = Metric::lower(Unit::Seconds, "switch");
        assert_eq!(difference(&Launch::default(), &metric, 1, 1.0), None);
        let one = launch(PairOrder::Abba, 1, 0.0);
        assert_eq!(null_difference_of(&values(&one, &metric, 1, 1.0), PairOrder::Abba), None);
    }

    #[test]
    fn a_pair_counts_where_both_of_its_batches_do() {
        let nano = |value: f64| Some(value);
        let row = [nano(10.0), nano(4.0), None, nano(10.0), nano(12.0), nano(6.0)];
        assert_eq!(complete(&row, PairOrder::Abba), (2, 3));
        assert_eq!(difference_of(&row, PairOrder::Abba), Some(6.0));
        assert_eq!(difference_of(&[None, nano(1.0)], PairOrder::Abba), None);
    }
}
