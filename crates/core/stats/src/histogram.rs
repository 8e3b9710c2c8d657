//! A compact histogram of latencies whose quantiles have a bounded relative error.
//!
//! Buckets are linear within a power of two, as in HdrHistogram (Tene, 2012) and DDSketch (Masson, Rim and Lee, VLDB
//! 2019). Each power of two has 128 buckets, so that a bucket is at most 1/128 of its value wide. Minimum and maximum
//! are exact.

use std::collections::BTreeMap;

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

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one value.
    pub fn record(&mut self, value: u64) {
        *self.counts.entry(index_of(value)).or_insert(0) += 1;
        self.smallest = if self.total == 0 { value } else { self.smallest.min(value) };
        self.largest = self.largest.max(value);
        self.total += 1;
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

    /// Mean of the values, accurate to half a bucket; `None` when empty.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.buckets().map(|(low, high, count)| low.midpoint(high) as f64 * count as f64).sum();
        (self.total > 0).then(|| sum / self.total as f64)
    }

    /// The smallest value such that at least the share `q` of all values are not above it, accurate to one bucket
    /// (0.8%) and within the exact extremes. `None` when empty or with `q` outside 0..=1.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.total == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        self.at_rank(((q * self.total as f64).ceil() as u64).max(1))
    }

    /// Smallest value, largest value and count of every bucket that holds a value, rising.
    fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.counts.iter().map(|(&index, &count)| {
            let (low, high) = bounds_of(index);
            (low.max(self.smallest), high.min(self.largest), count)
        })
    }

    fn at_rank(&self, rank: u64) -> Option<u64> {
        let mut seen = 0;
        self.buckets().find_map(|(_, high, count)| {
            seen += count;
            (seen >= rank).then_some(high)
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
    }

    #[test]
    fn empty_has_no_quantiles() {
        let h = Histogram::new();
        assert_eq!((h.min(), h.max(), h.quantile(0.5), h.mean()), (None, None, None, None));
    }

    proptest! {
        #[test]
        fn every_value_is_in_its_bucket(value in any::<u64>()) {
            let (low, high) = bounds_of(index_of(value));
            prop_assert!(low <= value && value <= high);
            prop_assert!((high - low) as f64 <= low as f64 / 128.0);
        }
    }
}
