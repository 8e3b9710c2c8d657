//! Exponential growth: a line through logarithms, its doubling time, and its predictions.
//!
//! Least squares on logarithms; intervals of the doubling time invert those of the rate. For ratings of machines over
//! years see Nordhaus, Two centuries of productivity growth in computing, Journal of Economic History 67, 2007.

use crate::fit::line::{FitLine, line};
use crate::interval::Estimated;

/// Fitted growth `y = exp(line(t))`.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// The line through the natural logarithms.
    pub line: FitLine,
}

/// Fits growth to positive `values` at `times` in any unit. `None` below three points, with a value that is not
/// positive and finite, when the samples differ in length, or when all times are equal.
pub fn exponential(times: &[f64], values: &[f64]) -> Option<Growth> {
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    line(times, &logs).map(|line| Growth { line })
}

impl Growth {
    /// Growth rate: change of the natural logarithm per unit of time.
    pub fn rate(&self, level: f64) -> Estimated {
        Estimated { value: self.line.slope, interval: self.line.slope_interval(level) }
    }

    /// Doubling time in the unit of the times; negative for halving. `None` when the interval of the rate contains
    /// zero, since there is no finite interval then.
    pub fn doubling_time(&self, level: f64) -> Option<Estimated> {
        let rate = self.rate(level);
        if rate.interval.contains(0.0) {
            return None;
        }
        let time = |r: f64| std::f64::consts::LN_2 / r;
        Some(Estimated { value: time(rate.value), interval: rate.interval.map(time) })
    }

    /// Value of the trend at `time` with the interval for one new value there (a prediction interval, which is wider
    /// than that of the trend). It is valid only while the growth continues.
    pub fn predict(&self, time: f64, level: f64) -> Estimated {
        let e = self.line.predict(time, level);
        Estimated { value: e.value.exp(), interval: e.interval.map(f64::exp) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, standard_normal};

    #[test]
    fn doubling_time_of_known_growth() {
        let times: Vec<f64> = (0..30).map(|i| 1990.0 + f64::from(i) / 2.0).collect();
        let mut rng = generator(6);
        let values: Vec<f64> = times
            .iter()
            .map(|t| 10.0 * ((t - 1990.0) / 1.8).exp2() * (0.1 * standard_normal(&mut rng)).exp())
            .collect();
        let growth = exponential(&times, &values).unwrap();
        let doubling = growth.doubling_time(0.95).unwrap();
        assert!(doubling.interval.contains(1.8) && doubling.interval.half_width() < 0.1, "{doubling:?}");
        let ahead = growth.predict(2006.0, 0.95);
        assert!(ahead.interval.contains(10.0 * (16.0_f64 / 1.8).exp2()));
    }

    #[test]
    fn flat_or_broken_input() {
        let flat = exponential(&[0.0, 1.0, 2.0, 3.0], &[5.0, 4.9, 5.1, 5.0]).unwrap();
        assert!(flat.doubling_time(0.95).is_none());
        assert!(exponential(&[0.0, 1.0, 2.0], &[1.0, 0.0, 2.0]).is_none());
    }
}
