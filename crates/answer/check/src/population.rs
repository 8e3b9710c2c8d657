//! The range of healthy values, learned from machines of one kind.

use model::Better;

/// Fewest values from which a spread is learned.
const ENOUGH: usize = 8;
/// Fewest values that say anything.
const FEWEST: usize = 2;
/// Spreads by which a healthy value may lie beyond the median.
const SPREADS: f64 = 7.0;
/// Least spread, and distance from the extremes of a few values at which one is still healthy, as logarithms: of machines
/// (a factor of two), and of equal parts of one machine.
const OF_MACHINES: (f64, f64) = (0.02, std::f64::consts::LN_2);
const OF_PARTS: (f64, f64) = (0.01, 0.15);
/// The 95% quantile of a normal variable, and the deviation that a median of deviations stands for.
const Q95: f64 = 1.645;
const MAD: f64 = 1.4826;

/// Values of one result on machines of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    /// Lower end of the healthy range.
    pub low: f64,
    /// Upper end of the healthy range.
    pub high: f64,
    /// Values behind it.
    pub count: usize,
}

impl Population {
    /// The range of these values of machines. From eight on it is the median and seven times the spread on each side.
    /// The spread is the larger one of the median of deviations and of what the tail of that side shows, so that a
    /// population with a long tail has a wide range, and a few bad members move nothing. From two to seven values it is
    /// their extremes and a factor of two beyond. `None` from fewer, or if one is not above zero.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        Self::with(values, OF_MACHINES)
    }

    /// The same of equal parts of one machine, which differ less.
    #[must_use]
    pub fn of_parts(values: &[f64]) -> Option<Self> {
        Self::with(values, OF_PARTS)
    }

    fn with(values: &[f64], (least, few): (f64, f64)) -> Option<Self> {
        if values.len() < FEWEST || values.iter().any(|value| !value.is_finite() || *value <= 0.0) {
            return None;
        }
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let (low, high) = if logs.len() < ENOUGH {
            let ends = logs
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| (low.min(*log), high.max(*log)));
            (ends.0 - few, ends.1 + few)
        } else {
            let median = stats::median(&logs)?;
            let deviations: Vec<f64> = logs.iter().map(|log| (log - median).abs()).collect();
            let spread = (MAD * stats::median(&deviations)?).max(least);
            let below = spread.max((median - stats::quantile(&logs, 0.05)?) / Q95);
            let above = spread.max((stats::quantile(&logs, 0.95)? - median) / Q95);
            (median - SPREADS * below, median + SPREADS * above)
        };
        Some(Self { low: low.exp(), high: high.exp(), count: values.len() })
    }

    /// The same range, wide enough for another one.
    #[must_use]
    pub fn widened(self, other: &Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high), ..self }
    }

    /// Whether a value is on the bad side of the range.
    #[must_use]
    pub fn is_low(&self, value: f64, better: Better) -> bool {
        match better {
            Better::Higher => value < self.low,
            Better::Lower => value > self.high,
        }
    }
}
