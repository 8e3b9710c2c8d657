//! When has a figure been launched often enough?
//!
//! Looking at every launch and stopping when it looks good makes intervals that cover far less than they say
//! (Armitage, McPherson and Rowe, Journal of the Royal Statistical Society A 132, 1969). Looks are few and fixed.

use crate::modes::{Mode, modes};
use crate::order_statistic::{MedianInterval, serial_median_interval};

/// Numbers of launches at which a figure may be judged.
pub const LOOKS: [usize; 5] = [10, 14, 20, 28, 40];

/// Half-width of the interval, as a logarithm, at which a figure leaves the run unless asked otherwise: 2%.
pub const TARGET: f64 = 0.02;

/// What a look at the launch values of a figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Interval of the median; `None` when the launches are too few for it at their autocorrelation.
    pub interval: Option<MedianInterval>,
    /// Groups of launches at different levels; more than one means that no single number describes the figure.
    pub modes: Vec<Mode>,
    /// Whether the interval is within the target and there is one mode. A figure with modes never converges.
    pub converged: bool,
}

/// Judges positive launch values in the order of time. `target` is the wanted half-width of the interval as a
/// logarithm, such as [`TARGET`]; `level` its confidence.
pub fn look(values: &[f64], target: f64, level: f64) -> Look {
    let interval = serial_median_interval(values, level);
    let modes = modes(values);
    let narrow = interval.is_some_and(|m| m.interval.relative_half_width() <= target);
    Look { interval, converged: narrow && modes.len() == 1, modes }
}

/// The look that comes after `launches`, or `None` after the last.
pub fn next_look(launches: usize) -> Option<usize> {
    LOOKS.into_iter().find(|&look| look > launches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_figure_converges_and_one_with_modes_does_not() {
        let quiet = [1.0, 1.01, 0.99, 1.005, 0.995, 1.0, 1.01, 0.99, 1.0, 1.002];
        assert!(look(&quiet, TARGET, 0.95).converged);
        assert!(!look(&quiet, 0.001, 0.95).converged);
        let tight = [6.5, 70.0, 6.5, 6.5, 6.5, 6.5, 6.5, 6.5, 6.5, 70.0];
        let seen = look(&tight, TARGET, 0.95);
        assert!(seen.modes.len() == 2 && !seen.converged);
        assert!(!look(&quiet[..5], TARGET, 0.95).converged);
    }

    #[test]
    fn looks_follow_each_other() {
        assert_eq!([0, 10, 13, 20, 39, 40].map(next_look), [Some(10), Some(14), Some(14), Some(28), Some(40), None]);
    }
}
