//! Uncertain numbers.

use serde::{Deserialize, Serialize};
use stats::distribution::normal_quantile;

/// A positive number and its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Uncertain {
    /// Known exactly.
    Fixed(f64),
    /// Uniform between two ends.
    Between(f64, f64),
    /// A value with an interval: normal on the logarithmic scale, with its own spread on either side.
    Interval {
        /// Middle.
        value: f64,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Confidence of the interval, 0 to 1.
        level: f64,
    },
}

impl Uncertain {
    /// A range, or a known number if both ends are equal.
    #[must_use]
    pub fn between(low: f64, high: f64) -> Self {
        if low < high { Self::Between(low, high) } else { Self::Fixed(low) }
    }

    /// An interval; a value without spread counts as known. An end without information, such as 0 or infinity, lies a
    /// factor of 1000 away.
    #[must_use]
    pub fn interval(value: f64, low: f64, high: f64, level: f64) -> Self {
        const FAR: f64 = 1000.0;
        let (low, high) = (low.max(value / FAR), high.min(value * FAR));
        let sound = 0.0 < low && low <= value && value <= high && low < high && high.is_finite();
        if sound && level > 0.0 && level < 1.0 {
            Self::Interval { value, low, high, level }
        } else {
            Self::Fixed(value)
        }
    }

    /// The middle.
    #[must_use]
    pub fn middle(&self) -> f64 {
        match *self {
            Self::Fixed(value) | Self::Interval { value, .. } => value,
            Self::Between(low, high) => f64::midpoint(low, high),
        }
    }

    /// Whether it is known exactly.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    /// The quantile at a share between 0 and 1, both excluded.
    #[must_use]
    pub fn at(&self, share: f64) -> f64 {
        match *self {
            Self::Fixed(value) => value,
            Self::Between(low, high) => low + (high - low) * share,
            Self::Interval { value, low, high, level } => {
                let z = normal_quantile(share);
                let end = if z < 0.0 { (value / low).ln() } else { (high / value).ln() };
                value * (z * end / normal_quantile(0.5 + level / 2.0)).exp()
            }
        }
    }

    /// The number times a known factor.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match *self {
            Self::Fixed(value) => Self::Fixed(value * factor),
            Self::Between(low, high) => Self::Between(low * factor, high * factor),
            Self::Interval { value, low, high, level } => {
                Self::Interval { value: value * factor, low: low * factor, high: high * factor, level }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_distribution() {
        let interval = Uncertain::interval(10.0, 8.0, 15.0, 0.9);
        assert!((interval.at(0.05) - 8.0).abs() < 1e-6 && (interval.at(0.95) - 15.0).abs() < 1e-6);
        assert!((interval.at(0.5) - 10.0).abs() < 1e-6);
        assert_eq!(Uncertain::between(2.0, 4.0).at(0.25), 2.5);
        assert_eq!(Uncertain::interval(5.0, 5.0, 5.0, 0.9), Uncertain::Fixed(5.0));
        assert_eq!(Uncertain::between(2.0, 4.0).scaled(2.0).middle(), 6.0);
        let unknown = Uncertain::interval(5.0, 0.0, f64::INFINITY, 0.9);
        assert!(!unknown.is_known() && unknown.at(0.05) < 0.01 && unknown.at(0.95) > 1000.0, "{unknown:?}");
    }
}
