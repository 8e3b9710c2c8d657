//! The spread assumed for values that are published without one.
//!
//! A printed number is accurate to its last digit at best, and sessions differ by the session noise of the result's
//! class. Together they give an interval that was not measured. A ratio far beyond it is reported and marked as
//! assumed; it is not a test.

use std::f64::consts::SQRT_2;

use model::{BenchmarkResult, Estimate, RULES, Run};
use stats::distribution::normal_quantile;

/// The assumed interval of the logarithm of a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Assumed {
    /// Half-width.
    pub(crate) half: f64,
    /// Rounding of the reference's value relative to it; `None` if it states a spread.
    pub(crate) reference_rounding: Option<f64>,
    /// Rounding of the other's value.
    pub(crate) rounding: Option<f64>,
    /// Session noise of the class.
    pub(crate) floor: f64,
}

impl Assumed {
    /// Whether a logarithm is outside the interval, and the nearer end of the interval beyond 30%.
    pub(crate) fn is_exceeded(&self, log: f64) -> bool {
        log.abs() - self.half > RULES.compare.assumed_ratio.ln()
    }
}

/// Uncertainty of one side: its stated error, or the rounding of its printed value.
struct AssumedSide {
    error: f64,
    rounding: Option<f64>,
}

/// The spread of a ratio if at least one side is published without one. `None` if both state one, and for an
/// unpublished value without spread: such a machine can be measured again.
pub(crate) fn assumed(
    reference: (&Run, &BenchmarkResult),
    other: (&Run, &BenchmarkResult),
    level: f64,
) -> Option<Assumed> {
    let (a, b) = (side(reference)?, side(other)?);
    if a.rounding.is_none() && b.rounding.is_none() {
        return None;
    }
    let floor = reference.1.class.session_noise().max(other.1.class.session_noise());
    let random = normal_quantile(0.5 + level / 2.0) * a.error.hypot(b.error).hypot(SQRT_2 * floor);
    // Rounding is not a random error: both values may be off by all of it in opposite directions.
    let rounding = |side: &AssumedSide| -(1.0 - side.rounding.unwrap_or(0.0).min(0.999)).ln();
    let half = random + rounding(&a) + rounding(&b);
    Some(Assumed { half, reference_rounding: a.rounding, rounding: b.rounding, floor })
}

fn side((run, result): (&Run, &BenchmarkResult)) -> Option<AssumedSide> {
    let estimate = result.outcome.estimate()?;
    if let Some(error) = standard_error(estimate) {
        return Some(AssumedSide { error, rounding: None });
    }
    if estimate.has_spread() || run.origin.is_none() || estimate.value <= 0.0 {
        return None;
    }
    // Least and greatest of repetitions, if printed, are better evidence than the digits.
    let range = ((estimate.high - estimate.low) / 2.0 / estimate.value).max(0.0);
    let rounding = result.rounding.unwrap_or_else(|| of_digits(estimate.value));
    Some(AssumedSide { error: 0.0, rounding: Some(rounding.max(range)) })
}

/// Half a unit in the last digit of the shortest decimal number that equals the value, relative to it. 0 if that has
/// more than twelve digits, as after a conversion of units.
fn of_digits(value: f64) -> f64 {
    let exponent = value.log10().floor();
    for digits in 1..=12 {
        let unit = 10.0_f64.powf(exponent + 1.0 - f64::from(digits));
        let rounded = (value / unit).round() * unit;
        if ((rounded - value) / value).abs() < 1e-12 {
            return 0.5 * unit / value;
        }
    }
    0.0
}

/// Standard deviation of the logarithm for an interval. An interval of level 1 counts as one of 99.9%.
pub(crate) fn standard_error(estimate: &Estimate) -> Option<f64> {
    if !estimate.has_spread() || estimate.low <= 0.0 {
        return None;
    }
    let half = (estimate.high / estimate.low).ln() / 2.0;
    Some(half / normal_quantile(0.5 + estimate.level.min(0.999) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_determine_the_rounding() {
        for (value, rounding) in [(11.6e-6, 0.05 / 11.6), (3.0, 0.5 / 3.0), (356_915.5, 0.05 / 356_915.5), (1e9, 0.5)] {
            assert!((of_digits(value) / rounding - 1.0).abs() < 1e-6, "{value}: {}", of_digits(value));
        }
        assert_eq!(of_digits(1.0 / 3.0), 0.0);
    }

    #[test]
    fn the_assumed_spread_must_be_exceeded_by_thirty_percent() {
        let assumed = Assumed { half: 0.2, reference_rounding: Some(0.01), rounding: Some(0.01), floor: 0.05 };
        assert!(!assumed.is_exceeded(0.46) && assumed.is_exceeded(0.47) && assumed.is_exceeded(-0.47));
    }
}
