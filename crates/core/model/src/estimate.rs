//! The only numbers that a report may print.

use serde::{Deserialize, Serialize};

/// Method of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EstimateMethod {
    /// Order statistics of the values of fresh samples, with exact binomial coverage.
    OrderStatistic,
    /// Order statistics of differences, each taken inside one sample.
    PairedOrderStatistic,
    /// Extremes of few clean samples, widened so far that they cover like an interval at 99%: by resampling of
    /// recorded samples, and no theorem.
    WidenedExtremes,
    /// Derived from other results by propagating their intervals.
    Propagated,
    /// Least and greatest of a few whole executions, or of too few samples for an interval.
    Range,
    /// As another program's document states it.
    Stated,
    /// No spread is known: the interval is the value itself at level 0, and supports no claim of a difference.
    None,
}

impl EstimateMethod {
    /// The method of an interval that has this level: ends with less coverage than an interval requires are the least
    /// and the greatest of a few values.
    #[must_use]
    pub fn at(self, level: f64) -> Self {
        if level < RANGE_BELOW { Self::Range } else { self }
    }
}

/// A value with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Median of sample values, in the result's unit.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence level of the interval, 0 to 1.
    pub level: f64,
    /// Samples (fresh processes) behind the value.
    pub samples: u32,
    /// Timed batches in a sample.
    pub batches: u32,
    /// Method of the interval.
    pub method: EstimateMethod,
}

/// Fewest samples from which anything is concluded: a verdict, a place, a mean.
pub const FEWEST_SAMPLES: u32 = 8;

/// An interval with a level below this is a range: its ends are the least and the greatest of too few samples.
pub const RANGE_BELOW: f64 = 0.90;

impl Estimate {
    /// Whether the ends are a range rather than a confidence interval.
    #[must_use]
    pub fn is_range(&self) -> bool {
        match self.method {
            EstimateMethod::Range => true,
            EstimateMethod::OrderStatistic
            | EstimateMethod::PairedOrderStatistic
            | EstimateMethod::WidenedExtremes
            | EstimateMethod::Propagated => self.level < RANGE_BELOW,
            EstimateMethod::Stated | EstimateMethod::None => false,
        }
    }

    /// A value without a known spread.
    #[must_use]
    pub const fn without_spread(value: f64) -> Self {
        Self { value, low: value, high: value, level: 0.0, samples: 1, batches: 1, method: EstimateMethod::None }
    }

    /// An interval of order statistics of this many samples, of one batch each.
    #[must_use]
    pub const fn of_samples(value: f64, (low, high): (f64, f64), level: f64, samples: u32) -> Self {
        Self { value, low, high, level, samples, batches: 1, method: EstimateMethod::OrderStatistic }
    }

    /// Whether the interval supports claims.
    #[must_use]
    pub fn has_spread(&self) -> bool {
        self.method != EstimateMethod::None && self.level > 0.0
    }

    /// Whether it places a machine among others: it is an interval and no range, and of eight samples at least where
    /// they were counted.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        let counted = !matches!(self.method, EstimateMethod::Stated | EstimateMethod::Propagated);
        self.has_spread() && !self.is_range() && (!counted || self.samples >= FEWEST_SAMPLES)
    }

    /// The value and both ends times a factor above 0.
    pub fn scale(&mut self, factor: f64) {
        (self.value, self.low, self.high) = (self.value * factor, self.low * factor, self.high * factor);
    }

    /// Half the width of the interval relative to the value: 0.02 is +-2%.
    #[must_use]
    pub fn relative_half_width(&self) -> f64 {
        (self.high - self.low) / (2.0 * self.value.abs())
    }

    /// Whether half the width of the interval is at most `target`, relative to the value and as a logarithm. The one
    /// comparison of a width with a target.
    #[must_use]
    pub fn is_narrow(&self, target: f64) -> bool {
        // A small tolerance, because documents store values as text after the comparison.
        let target = target * (1.0 + 1e-9);
        let (near, far) = if self.low > 0.0 { (self.low, self.high) } else { (self.high, self.low) };
        let ratio = far / near;
        self.relative_half_width() <= target && ratio > 0.0 && ratio.ln() / 2.0 <= target
    }

    /// Whether it is an interval of at least `level`, and no range, that is narrow enough for `target`.
    #[must_use]
    pub fn is_within(&self, target: f64, level: f64) -> bool {
        self.level >= level && !self.is_range() && self.is_narrow(target)
    }
}

/// One of several groups of samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mode {
    /// Share of the samples, 0 to 1.
    pub share: f64,
    /// Centre of the group and its interval; `level` is 0 when the group has too few samples for one.
    pub estimate: Estimate,
}

/// Outcome of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A value with its interval.
    Measured(Estimate),
    /// A paired difference that cannot be distinguished from zero: less than `bound`, in the result's unit.
    Below {
        /// Upper bound.
        bound: f64,
    },
    /// Samples fall into groups, so that no single number describes them.
    Modes(Vec<Mode>),
    /// It cannot be measured here; the reason.
    NotMeasured(String),
    /// Measuring failed; the reason.
    Failed(String),
}

impl Outcome {
    /// Every value in it times a factor above 0.
    pub fn scale(&mut self, factor: f64) {
        match self {
            Self::Measured(estimate) => estimate.scale(factor),
            Self::Below { bound } => *bound *= factor,
            Self::Modes(modes) => modes.iter_mut().for_each(|mode| mode.estimate.scale(factor)),
            Self::NotMeasured(_) | Self::Failed(_) => {}
        }
    }

    /// The estimate, if there is a single one.
    #[must_use]
    pub const fn estimate(&self) -> Option<&Estimate> {
        match self {
            Self::Measured(estimate) => Some(estimate),
            _ => None,
        }
    }
}

/// A quantile of single operations, with the interval over samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuantileEstimate {
    /// 0.5, 0.99, 0.999; 1 is the maximum. For a rate, whose tail is its slow end: 0.5, 0.01, 0.001; 0 is the minimum.
    pub quantile: f64,
    /// Median over samples of each sample's quantile.
    pub estimate: Estimate,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_narrow_relative_to_its_value_and_as_a_logarithm() {
        let of = |value: f64, low: f64, high: f64| Estimate { value, low, high, ..Estimate::without_spread(value) };
        assert!(of(100.0, 98.1, 101.9).is_narrow(0.02) && of(-100.0, -101.9, -98.1).is_narrow(0.02));
        assert!(!of(100.0, 98.0, 102.1).is_narrow(0.02), "relative to its value");
        assert!(!of(104.0, 98.0, 102.1).is_narrow(0.02), "as a logarithm");
        assert!(!of(1.0, -0.01, 0.01).is_narrow(0.02) && !of(0.0, 0.0, 0.0).is_narrow(0.02));
        let called = Estimate { level: 0.99, ..of(100.0, 99.0, 101.0) };
        assert!(called.is_within(0.02, 0.99) && !called.is_within(0.02, 0.995) && !called.is_within(0.005, 0.99));
    }
}
