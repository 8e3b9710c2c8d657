//! The rank of a result among other machines' values of the same result.
//!
//! A result's id and parameters are its definition and never change their meaning, so that values of one key may be
//! ranked together, and no others. Only the result's own interval is known for certain: the others' spread may be
//! unstated.

use model::{Better, Estimate};
use serde::Serialize;

/// Fewest other machines for a rank.
pub const LEAST_MACHINES: usize = 10;

/// Bars of the histogram.
pub const BARS: usize = 6;

/// A result among the same result of other machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MachineStanding {
    /// Machines whose value is worse than the whole interval of the result.
    pub worse: usize,
    /// Machines whose value is better than the whole interval of the result.
    pub better: usize,
    /// Number of machines that it is ranked among.
    pub of: usize,
    /// Machines in each of equal steps of the logarithm, from the worst value to the best.
    pub histogram: [usize; BARS],
}

/// The rank of an estimate among one value of each other machine. `None` with fewer than [`LEAST_MACHINES`] values that
/// are finite and positive, or if the estimate is not, or is uncertain.
#[must_use]
pub fn standing(estimate: &Estimate, better: Better, others: &[f64]) -> Option<MachineStanding> {
    let known = |value: &f64| value.is_finite() && *value > 0.0;
    let others: Vec<f64> = others.iter().copied().filter(known).collect();
    if !estimate.is_sure()
        || others.len() < LEAST_MACHINES
        || ![estimate.value, estimate.low, estimate.high].iter().all(known)
    {
        return None;
    }
    // The logarithm, turned so that more is better.
    let gain = |value: f64| if better == Better::Higher { value.ln() } else { -value.ln() };
    let (a, b) = (gain(estimate.low), gain(estimate.high));
    let (low, high) = (a.min(b), a.max(b));
    let gains: Vec<f64> = others.iter().map(|value| gain(*value)).collect();
    let (least, most) = gains.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
    let mut histogram = [0; BARS];
    for gain in &gains {
        let share = if most > least { (gain - least) / (most - least) } else { 0.5 };
        histogram[((share * BARS as f64) as usize).min(BARS - 1)] += 1;
    }
    let worse = gains.iter().filter(|gain| **gain < low).count();
    let better = gains.iter().filter(|gain| **gain > high).count();
    Some(MachineStanding { worse, better, of: gains.len(), histogram })
}

#[cfg(test)]
mod tests {
    use model::EstimateMethod;

    use super::*;

    fn among(low: f64, high: f64, better: Better, others: &[f64]) -> Option<MachineStanding> {
        let (level, samples, method) = (0.95, 10, EstimateMethod::OrderStatistic);
        let estimate = Estimate { value: (low + high) / 2.0, low, high, level, samples, batches: 1, method };
        standing(&estimate, better, others)
    }

    #[test]
    fn a_range_has_no_place() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        for (samples, method) in [(7, EstimateMethod::OrderStatistic), (40, EstimateMethod::Range)] {
            let sure = Estimate { level: 0.95, samples, method, ..Estimate::without_spread(4.0) };
            assert_eq!(standing(&sure, Better::Higher, &ten), None);
        }
    }

    #[test]
    fn nine_machines_are_no_reference() {
        let nine: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(among(4.0, 5.0, Better::Higher, &nine), None);
        let broken = [&nine[..], &[f64::NAN, 0.0, -1.0, f64::INFINITY]].concat();
        assert_eq!(among(4.0, 5.0, Better::Higher, &broken), None, "only real values count");
        assert!(among(4.0, 5.0, Better::Higher, &[&nine[..], &[10.0]].concat()).is_some());
    }

    #[test]
    fn what_lies_in_the_interval_is_neither_better_nor_worse() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let higher = among(3.5, 6.5, Better::Higher, &ten).unwrap();
        assert_eq!((higher.worse, higher.better, higher.of), (3, 4, 10));
        let lower = among(3.5, 6.5, Better::Lower, &ten).unwrap();
        assert_eq!((lower.worse, lower.better, lower.of), (4, 3, 10), "a time is better when it is shorter");
        assert_eq!(among(10.0, 10.0, Better::Higher, &ten).unwrap().better, 0);
        assert_eq!(higher.histogram.iter().sum::<usize>(), 10);
        assert_eq!(lower.histogram[BARS - 1], 1, "the best time of 1 s stands far from the others of 2 s and more");
    }

    #[test]
    fn equal_values_are_one_bar() {
        let same = among(1.0, 1.0, Better::Lower, &[1.0; 12]).unwrap();
        assert_eq!((same.worse, same.better), (0, 0));
        assert_eq!(same.histogram.iter().filter(|count| **count > 0).count(), 1);
        assert_eq!(among(0.0, 1.0, Better::Lower, &[1.0; 12]), None);
    }
}
