//! Results in modes, if a fact indicates that the two threads or processes may have been placed differently.
//!
//! With free scheduling, two processes are on one CPU in some samples and on two in others. The shares of such modes
//! vary between sessions, so that alone they are no evidence; they count when a fact on placement differs as well.

use model::{BenchmarkResult, Mode, Outcome};
use stats::distribution::normal_cdf;

/// Smallest factor between expected times that counts.
const LEAST: f64 = 1.5;
/// Largest p-value of equal expected times.
const SIGNIFICANCE: f64 = 0.001;

/// Expected value over the modes of each result, with the standard deviation of the logarithm of B over A from the
/// multinomial error of the shares. `None` if neither has modes or the difference does not count.
pub(crate) fn moved(a: &BenchmarkResult, b: &BenchmarkResult) -> Option<(f64, f64, f64)> {
    let ((mean_a, error_a), (mean_b, error_b)) = (expected(a)?, expected(b)?);
    let in_modes = matches!(a.outcome, Outcome::Modes(_)) || matches!(b.outcome, Outcome::Modes(_));
    let (log, error) = ((mean_b / mean_a).ln(), error_a.hypot(error_b));
    let counts =
        in_modes && error > 0.0 && log.abs() > LEAST.ln() && 2.0 * normal_cdf(-log.abs() / error) < SIGNIFICANCE;
    counts.then_some((mean_a, mean_b, error))
}

/// Mean over modes by share, and its relative standard deviation.
fn expected(result: &BenchmarkResult) -> Option<(f64, f64)> {
    let modes: Vec<Mode> = match &result.outcome {
        Outcome::Modes(modes) => modes.clone(),
        Outcome::Measured(estimate) => vec![Mode { share: 1.0, estimate: *estimate }],
        _ => return None,
    };
    let samples: u32 = modes.iter().map(|mode| mode.estimate.samples).sum();
    let mean: f64 = modes.iter().map(|mode| mode.share * mode.estimate.value).sum();
    let variance: f64 = modes.iter().map(|mode| mode.share * (mode.estimate.value - mean).powi(2)).sum();
    (mean > 0.0 && samples > 0).then(|| (mean, (variance / f64::from(samples)).sqrt() / mean))
}
