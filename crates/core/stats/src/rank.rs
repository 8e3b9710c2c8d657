//! Ranks with their uncertainty.
//!
//! The interval of a rank follows from pairwise tests with a family-wise adjustment. At best it is one more than the
//! number of significantly better items, at worst the total minus the significantly worse ones (Goldstein and
//! Spiegelhalter, Journal of the Royal Statistical Society A 159, 1996; Mogstad et al., Review of Economic Studies 91,
//! 2024).

use crate::equivalence::{EquivalenceVerdict, Floor, compare, verdict};
use crate::holm::holm;

/// Ranks, counted from 1, that one member may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankInterval {
    /// Best possible rank.
    pub best: usize,
    /// Worst possible rank.
    pub worst: usize,
}

/// One comparison with the verdict different.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ordered {
    /// Index of the better one.
    pub better: usize,
    /// Index of the worse one.
    pub worse: usize,
}

/// Rank intervals of `count` members from the pairs that differ; other pairs count as ties. Pairs with an index outside
/// `0..count` are ignored.
pub fn rank_intervals(count: usize, pairs: &[Ordered]) -> Vec<RankInterval> {
    let mut ranks = vec![RankInterval { best: 1, worst: count }; count];
    for pair in pairs.iter().filter(|p| p.better < count && p.worse < count && p.better != p.worse) {
        ranks[pair.worse].best += 1;
        ranks[pair.better].worst -= 1;
    }
    ranks
}

/// Ranks samples of logarithms of sample values, each from its own session, the smallest first. Prony compares all
/// pairs with their common `floor`, adjusts by Holm's method, and requires a difference above `band`.
///
/// `None` when a pair cannot be compared: see [`compare`].
pub fn rank(samples: &[Vec<f64>], floor: Floor, band: f64, level: f64) -> Option<Vec<RankInterval>> {
    let mut pairs = Vec::new();
    let mut comparisons = Vec::new();
    for i in 0..samples.len() {
        for j in i + 1..samples.len() {
            pairs.push((i, j));
            comparisons.push(compare(&samples[i], &samples[j], floor, level)?);
        }
    }
    let adjusted = holm(&comparisons.iter().map(|c| c.p_value).collect::<Vec<_>>());
    let ordered: Vec<Ordered> = pairs
        .iter()
        .zip(comparisons.iter().zip(adjusted))
        .filter(|(_, (c, p))| verdict(c, *p, band) == EquivalenceVerdict::Different)
        .map(
            |(&(i, j), (c, _))| {
                if c.shift > 0.0 { Ordered { better: i, worse: j } } else { Ordered { better: j, worse: i } }
            },
        )
        .collect();
    Some(rank_intervals(samples.len(), &ordered))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, generator};

    #[test]
    fn ties_share_an_interval() {
        let mut rng = generator(2);
        let samples: Vec<Vec<f64>> = [100.0, 150.0, 100.2, 220.0]
            .into_iter()
            .map(|c| {
                Noise { disturbed: 0.0, ..Noise::stable(c) }.samples(20, &mut rng).iter().map(|v| v.ln()).collect()
            })
            .collect();
        let ranks = rank(&samples, Floor::known(0.005), 0.02, 0.95).unwrap();
        assert_eq!(ranks[0], RankInterval { best: 1, worst: 2 });
        assert_eq!(ranks[2], ranks[0]);
        assert_eq!(ranks[1], RankInterval { best: 3, worst: 3 });
        assert_eq!(ranks[3], RankInterval { best: 4, worst: 4 });
    }

    #[test]
    fn without_differences_every_rank_is_possible() {
        assert_eq!(rank_intervals(3, &[]), vec![RankInterval { best: 1, worst: 3 }; 3]);
        assert_eq!(rank_intervals(2, &[Ordered { better: 5, worse: 0 }])[0], RankInterval { best: 1, worst: 2 });
    }
}
