//! When a figure has had enough launches.
//!
//! Testing after every launch and stopping at a good result gives intervals that cover far less than their level
//! (Armitage, McPherson and Rowe, Journal of the Royal Statistical Society A 132, 1969). Looks are few and fixed, and a
//! figure converges only if an interval of a higher level than the requested one is within its target.
//!
//! Reason: an interval at 95% is narrow by chance in one run of many, and for a figure that seldom reaches its target
//! most such runs are chance. If a figure converges in a share `p` of all runs, and the interval used for this decision
//! misses in a share `a`, at most `a / p` of the decisions are wrong; so `a` must be small compared with any `p` worth
//! reporting. The deciding interval is also the printed one, since a narrower one inside it would miss more often.

use crate::modes::{FastBatches, ModeGroup, modes_of_launches};
use crate::order_statistic::{MedianInterval, inflated_median_ranks, launch_median_interval, least_inflation};

/// Default target of a figure: half-width of the interval as a logarithm, 2%.
pub const TARGET: f64 = 0.02;

/// Least level of the interval that decides convergence. Ten launches do not reach it.
pub const CALLING_LEVEL: f64 = 0.99;

/// Result of a look at the launch values of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Interval of the median at the requested level, or at [`CALLING_LEVEL`] if the figure converged; `None` when the
    /// launches are too few for it at their autocorrelation.
    pub interval: Option<MedianInterval>,
    /// Groups of launches at different levels; with more than one, no single number describes the figure.
    pub modes: Vec<ModeGroup>,
    /// Whether the figure has converged: the interval at [`CALLING_LEVEL`] is within the target, and there is one mode.
    pub converged: bool,
}

/// Judges positive launch values in the order of time, with what is known of the batches of each launch (`batches` is
/// empty or as long as `values`). `target` is the wanted half-width of the interval as a logarithm, such as [`TARGET`];
/// `level` its confidence.
pub fn look_at_launches(values: &[f64], batches: &[Option<FastBatches>], target: f64, level: f64) -> Look {
    let modes = modes_of_launches(values, batches);
    // By the logarithm and by the printed value, whichever is wider.
    let within = |m: &MedianInterval| {
        m.interval.relative_half_width() <= target && m.interval.half_width() <= target * m.median.abs()
    };
    let called = calling_interval(values, level).filter(within);
    let converged = called.is_some() && modes.len() == 1;
    let interval = called.filter(|_| converged).or_else(|| launch_median_interval(values, level));
    Look { interval, modes, converged }
}

/// The interval that must be within the target for convergence. `level` is the plan's.
pub fn calling_interval(values: &[f64], level: f64) -> Option<MedianInterval> {
    launch_median_interval(values, level.max(CALLING_LEVEL))
}

/// Fewest launches with which a figure can converge, however small its spread.
pub fn fewest_launches(level: f64) -> Option<usize> {
    (2..100).find(|&n| inflated_median_ranks(n, level.max(CALLING_LEVEL), least_inflation()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_figure_converges_and_one_with_modes_does_not() {
        let quiet = [1.0, 1.01, 0.99, 1.005, 0.995, 1.0, 1.01, 0.99, 1.0, 1.002, 0.998, 1.001, 0.999, 1.003];
        let seen = look_at_launches(&quiet, &[], TARGET, 0.95);
        assert!(seen.converged && seen.interval.unwrap().interval.level >= CALLING_LEVEL);
        assert!(!look_at_launches(&quiet[..10], &[], TARGET, 0.95).converged, "ten launches call nothing");
        assert!(!look_at_launches(&quiet, &[], 0.001, 0.95).converged);
        let tight = [6.5, 70.0, 6.5, 6.5, 6.5, 6.5, 6.5, 6.5, 6.5, 70.5];
        let seen = look_at_launches(&tight, &[], TARGET, 0.95);
        assert!(seen.modes.len() == 2 && !seen.converged);
        assert!(!look_at_launches(&quiet[..5], &[], TARGET, 0.95).converged);
    }

    #[test]
    fn fewest_launches_of_a_level() {
        assert_eq!(fewest_launches(0.95), Some(13));
    }
}
