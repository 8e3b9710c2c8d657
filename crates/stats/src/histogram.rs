//! A compact histogram of latencies whose quantiles are right to a known relative error.
//!
//! Buckets are linear within a power of two, as in HdrHistogram (Tene, 2012) and DDSketch (Masson, Rim and Lee, VLDB
//! 2019): 128 to a power of two, so that a bucket is at most 1/128 of its value wide. Minimum and maximum are exact.

use std::collections::BTreeMap;

use crate::interval::Interval;
use crate::order_statistic::quantile_ranks;

/// Buckets to a power of two, as a power of two.
const BITS: u32 = 7;

/// Counts of whole numbers, such as nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Histogram {
    counts: BTreeMap<u32, u64>,
    total: u64,
    smallest: u64,
    largest: u64,
}

/// One bucket: `count` values of `low..=high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Smallest value of the bucket.
    pub low: u64,
    /// Largest value of the bucket.
    pub high: u64,
    /// Number of values.
    pub count: u64,
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one value.
    pub fn record(&mut self, value: u64) {
        self.record_many(value, 1);
    }

    /// Counts `count` equal values.
    pub fn record_many(&mut self, value: u64, count: u64) {
        if count == 0 {
            return;
        }
        *self.counts.entry(index_of(value)).or_insert(0) += count;
        self.smallest = if self.total == 0 { value } else { self.smallest.min(value) };
        self.largest = self.largest.max(value);
        self.total += count;
    }

    /// Adds all counts of another, such as that of another launch.
    pub fn merge(&mut self, other: &Self) {
        if other.total == 0 {
            return;
        }
        for (&index, &count) in &other.counts {
            *self.counts.entry(index).or_insert(0) += count;
        }
        self.smallest = if self.total == 0 { other.smallest } else { self.smallest.min(other.smallest) };
        self.largest = self.largest.max(other.largest);
        self.total += other.total;
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The exact smallest value; `None` when empty.
    pub fn min(&self) -> Option<u64> {
        (self.total > 0).then_some(self.smallest)
    }

    /// The exact largest value; `None` when empty.
    pub fn max(&self) -> Option<u64> {
        (self.total > 0).then_some(self.largest)
    }

    /// Mean of the values, right to half a bucket; `None` when empty.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.buckets().map(|b| b.low.midpoint(b.high) as f64 * b.count as f64).sum();
        (self.total > 0).then(|| sum / self.total as f64)
    }

    /// The smallest value such that at least the share `q` of all are not above it, right to one bucket (0.8%) and
    /// never beyond the exact extremes. `None` when empty or with `q` outside 0..=1.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.total == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        self.at_rank(((q * self.total as f64).ceil() as u64).max(1))
    }

    /// Interval of quantile `q` if the values were independent, from order statistics. Values of one process are not,
    /// so this is no interval of a figure: take the quantile of each launch for that. `None` with too few values.
    pub fn quantile_interval(&self, q: f64, level: f64) -> Option<Interval> {
        let ranks = quantile_ranks(usize::try_from(self.total).ok()?, q, level)?;
        let (low, high) = (self.at_rank(ranks.low as u64)?, self.at_rank(ranks.high as u64)?);
        Some(Interval::new(low as f64, high as f64, ranks.coverage))
    }

    /// Buckets that hold a value, rising: what to store. [`Histogram::from_buckets`] reads them back.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts.iter().map(|(&index, &count)| {
            let (low, high) = bounds_of(index);
            Bucket { low: low.max(self.smallest), high: high.min(self.largest), count }
        })
    }

    /// Rebuilds a histogram from stored buckets, whose first `low` and last `high` are the exact extremes. `None` when
    /// a bucket spans more than one of ours or has `low > high`.
    pub fn from_buckets(buckets: &[Bucket]) -> Option<Self> {
        let mut histogram = Self::new();
        for b in buckets {
            if b.low > b.high || index_of(b.low) != index_of(b.high) {
                return None;
            }
            histogram.record_many(b.low, b.count);
            histogram.largest = histogram.largest.max(b.high);
        }
        Some(histogram)
    }

    fn at_rank(&self, rank: u64) -> Option<u64> {
        let mut seen = 0;
        self.buckets().find_map(|b| {
            seen += b.count;
            (seen >= rank).then_some(b.high)
        })
    }
}

fn index_of(value: u64) -> u32 {
    let magnitude = 63 - (value | 1).leading_zeros();
    if magnitude <= BITS {
        return value as u32;
    }
    let shift = magnitude - BITS;
    (shift << BITS) + (value >> shift) as u32
}

fn bounds_of(index: u32) -> (u64, u64) {
    if index < 2 << BITS {
        return (u64::from(index), u64::from(index));
    }
    let shift = (index >> BITS) - 1;
    let low = u64::from(index - (shift << BITS)) << shift;
    (low, low + ((1 << shift) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_of_known_values() {
        let mut h = Histogram::new();
        (1..=1000).for_each(|v| h.record(v));
        assert_eq!((h.count(), h.min(), h.max()), (1000, Some(1), Some(1000)));
        assert_eq!(h.quantile(1.0), Some(1000));
        for q in [0.001, 0.5, 0.9, 0.99] {
            let exact = 1000.0 * q;
            let ours = h.quantile(q).unwrap() as f64;
            assert!(ours >= exact && ours <= exact * (1.0 + 1.0 / 128.0) + 1.0, "{q}: {ours}");
        }
        assert!((h.mean().unwrap() - 500.5).abs() < 3.0);
        let interval = h.quantile_interval(0.9, 0.95).unwrap();
        assert!(interval.contains(900.0) && interval.half_width() < 30.0);
    }

    #[test]
    fn empty_has_no_quantiles() {
        let h = Histogram::new();
        assert_eq!((h.min(), h.max(), h.quantile(0.5), h.mean()), (None, None, None, None));
        assert!(Histogram::from_buckets(&[Bucket { low: 1000, high: 9000, count: 1 }]).is_none());
    }

    proptest! {
        #[test]
        fn every_value_is_in_its_bucket(value in any::<u64>()) {
            let (low, high) = bounds_of(index_of(value));
            prop_assert!(low <= value && value <= high);
            prop_assert!((high - low) as f64 <= low as f64 / 128.0);
        }

        #[test]
        fn merging_and_storing_lose_nothing(a in prop::collection::vec(0..1_000_000_u64, 1..50), b in prop::collection::vec(any::<u64>(), 0..50)) {
            let of = |values: &[u64]| {
                let mut h = Histogram::new();
                values.iter().for_each(|&v| h.record(v));
                h
            };
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let both: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(&merged, &of(&both));
            prop_assert_eq!(merged.max(), both.iter().max().copied());
            let stored: Vec<Bucket> = merged.buckets().collect();
            prop_assert_eq!(Histogram::from_buckets(&stored), Some(merged));
        }
    }
}
