//! Prediction intervals that are valid without a model of the errors.
//!
//! Jackknife+: Barber, Candes, Ramdas and Tibshirani, Predictive inference with the jackknife+, Annals of Statistics
//! 49, 2021.

use crate::interval::Interval;
use crate::quantile::sorted;

/// Result of the model fitted without point i.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeftOut {
    /// Its prediction for the new point.
    pub prediction: f64,
    /// Its absolute error at point i.
    pub residual: f64,
}

/// Jackknife+ interval for a new point. With groups (such as models of CPU) leave out one group at a time and give one
/// entry for each point.
///
/// Coverage is typically the level and never below `2 level - 1`. `None` when there are too few points for the level
/// (9 for 90%: below `level / (1 - level)` of them no finite interval has it) or a number is not finite.
pub fn jackknife_plus(left_out: &[LeftOut], level: f64) -> Option<Interval> {
    let low = sorted(&left_out.iter().map(|l| l.prediction - l.residual).collect::<Vec<_>>())?;
    let high = sorted(&left_out.iter().map(|l| l.prediction + l.residual).collect::<Vec<_>>())?;
    let rank = conformal_rank(left_out.len(), level)?;
    Some(Interval::new(low[left_out.len() - rank], high[rank - 1], level))
}

fn conformal_rank(n: usize, level: f64) -> Option<usize> {
    // The small term keeps rounding from turning 0.9 x 10 into 10.
    let rank = (level * (n as f64 + 1.0) - 1e-9).ceil() as usize;
    (rank >= 1 && rank <= n).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, standard_normal};

    #[test]
    fn covers_new_points_of_any_shape() {
        let mut rng = generator(21);
        for n in [9, 20, 50] {
            let trials = 2000;
            let mut covered = 0;
            for _ in 0..trials {
                let y: Vec<f64> = (0..n).map(|_| standard_normal(&mut rng).exp()).collect();
                let new = standard_normal(&mut rng).exp();
                let total: f64 = y.iter().sum();
                let left_out: Vec<LeftOut> = y
                    .iter()
                    .map(|v| {
                        let prediction = (total - v) / (n as f64 - 1.0);
                        LeftOut { prediction, residual: (v - prediction).abs() }
                    })
                    .collect();
                covered += usize::from(jackknife_plus(&left_out, 0.9).unwrap().contains(new));
            }
            assert!(covered as f64 / trials as f64 > 0.87, "{n} points: {covered} of {trials}");
        }
    }

    #[test]
    fn too_few_points_have_no_interval() {
        let few = [LeftOut { prediction: 1.0, residual: 0.1 }; 8];
        assert!(jackknife_plus(&few, 0.9).is_none() && jackknife_plus(&few, 0.8).is_some());
    }
}
