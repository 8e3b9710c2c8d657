//! The common part of the samples of one round.
//!
//! A clock step, a neighbour or other work moves all results that are measured at that time. Their errors therefore do
//! not average out over results as independent ones do. The variance of a sum is that of its parts and twice their
//! covariances; samples of the same rounds estimate the latter.

use std::collections::BTreeMap;

use model::BenchmarkResult;
use stats::autocorrelation::variance_inflation;
use stats::distribution::normal_quantile;
use stats::quantile::midranks;

/// One result's part of the error of a mean.
pub(super) struct MeanPart {
    by_round: BTreeMap<u32, f64>,
    /// By what samples that resemble their neighbours have made its variance larger.
    inflation: f64,
}

impl MeanPart {
    /// For a result whose ratio to another contributes this error to the mean, as a logarithm with the sign of its
    /// direction.
    ///
    /// Samples count by their normal scores (van der Waerden, Proceedings of the Royal Netherlands Academy of Sciences
    /// 55, 1952). The median and the centre of Hodges and Lehmann move by ranks, so one round that disturbed all
    /// results hardly moves them. A document without rounds has one round, in which the scores sum to nothing.
    pub(super) fn of(own: &BenchmarkResult, other: &BenchmarkResult, error: f64) -> Self {
        let samples = own.counted();
        let known = samples.iter().filter_map(|sample| Some((sample.round, own.value_of(sample)?)));
        let (rounds, values): (Vec<u32>, Vec<f64>) = known.unzip();
        let (n, others) = (values.len() as f64, other.counted().len() as f64);
        let ranks = midranks(&values).unwrap_or_default();
        let scores: Vec<f64> = ranks.iter().map(|rank| normal_quantile((rank - 0.5) / n)).collect();
        let scale = scores.iter().map(|score| score * score).sum::<f64>().sqrt();
        // If both sides scatter alike, the one with fewer samples contributes more of the error.
        let own_error = error * (others / (n + others)).sqrt();
        let mut by_round = BTreeMap::new();
        for (round, score) in rounds.into_iter().zip(scores).filter(|_| scale > 0.0) {
            *by_round.entry(round).or_default() += own_error * score / scale;
        }
        Self { by_round, inflation: variance_inflation(&values) }
    }
}

/// Variance of the sum of some parts beyond that of independent ones, at least 0. It is larger if the sums of rounds
/// correlate more than the samples of each result, whose own noise hides the correlation.
pub(super) fn in_common(parts: &[MeanPart]) -> f64 {
    let mut rounds: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    let (mut own, mut inflated) = (0.0, 0.0);
    for part in parts {
        for (round, error) in &part.by_round {
            let (sum, squares) = rounds.entry(*round).or_default();
            *sum += error;
            *squares += error * error;
            own += error * error;
            inflated += part.inflation * error * error;
        }
    }
    let common: f64 = rounds.values().map(|(sum, squares)| sum * sum - squares).sum();
    if common <= 0.0 || own <= 0.0 {
        return 0.0;
    }
    let sums: Vec<f64> = rounds.into_values().map(|(sum, _)| sum).collect();
    common * (variance_inflation(&sums) * own / inflated).max(1.0)
}
