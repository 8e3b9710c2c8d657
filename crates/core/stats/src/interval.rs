//! An interval with its confidence level.

/// A closed interval and its confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end, in the unit of the values.
    pub low: f64,
    /// Upper end, in the unit of the values.
    pub high: f64,
    /// Coverage of the method, a fraction such as 0.979. For rank methods it is the exact coverage, which is at least
    /// the requested level.
    pub level: f64,
}

impl Interval {
    /// Makes an interval; the ends may be in either order.
    pub fn new(low: f64, high: f64, level: f64) -> Self {
        if low <= high { Self { low, high, level } } else { Self { low: high, high: low, level } }
    }

    /// Whether `value` is in the closed interval.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether every point of the interval is strictly within `-band..band`.
    pub fn is_inside(&self, band: f64) -> bool {
        -band < self.low && self.high < band
    }

    /// Whether every point of the interval is strictly outside `-band..band`, all on one side.
    pub fn is_outside(&self, band: f64) -> bool {
        self.low > band || self.high < -band
    }

    /// Half the distance between the ends.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Half the logarithm of the ratio of the ends: about half the width relative to the value.
    /// Infinite when the lower end is not positive, since no relative width exists then.
    pub fn relative_half_width(&self) -> f64 {
        if self.low > 0.0 { (self.high / self.low).ln() / 2.0 } else { f64::INFINITY }
    }

    /// The interval of a monotone function of the value, such as `f64::exp`.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self::new(f(self.low), f(self.high), self.level)
    }
}

/// A value and the interval around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimated {
    /// Point estimate.
    pub value: f64,
    /// Confidence interval of the estimate.
    pub interval: Interval,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_ordered_and_bands_are_strict() {
        let i = Interval::new(0.03, -0.01, 0.95);
        assert_eq!((i.low, i.high), (-0.01, 0.03));
        assert!(i.contains(0.0) && !i.is_inside(0.03) && i.is_inside(0.031) && !i.is_outside(0.0));
        assert!(Interval::new(-0.05, -0.03, 0.95).is_outside(0.02));
    }

    #[test]
    fn relative_width_is_that_of_the_logarithm() {
        let i = Interval::new(98.0, 102.0, 0.95);
        assert!((i.relative_half_width() - 0.02).abs() < 1e-4);
        assert_eq!(Interval::new(-1.0, 1.0, 0.95).relative_half_width(), f64::INFINITY);
    }
}
