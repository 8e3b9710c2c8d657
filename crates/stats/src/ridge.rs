//! Ridge regression that shrinks towards a prior guess, cross-validated by groups.
//!
//! Hoerl and Kennard, Technometrics 12, 1970; shrinking towards a given vector instead of zero is the normal prior of
//! Lindley and Smith, Journal of the Royal Statistical Society B 34, 1972. Groups (models of CPU, say) are left out
//! whole, since machines of one model predict each other better than any new one (Roberts et al., Ecography 40, 2017).

use crate::jackknife_plus::LeftOut;
use crate::quantile::{mean, median};

/// A fitted linear prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct Ridge {
    /// Coefficient of each column.
    pub coefficients: Vec<f64>,
    /// Value where all columns are 0.
    pub intercept: f64,
}

/// Rows of columns, what to predict of each, and the guess to shrink to.
#[derive(Debug, Clone, Copy)]
pub struct RidgeProblem<'a> {
    /// One row of columns for each observation.
    pub rows: &'a [Vec<f64>],
    /// What was observed.
    pub targets: &'a [f64],
    /// Group of each observation: members of one group are left out together.
    pub groups: &'a [usize],
    /// Coefficients to shrink to, one for each column; zeros shrink to the mean of the targets.
    pub prior: &'a [f64],
}

impl Ridge {
    /// Prediction for a row of as many columns as the fit had.
    pub fn predict(&self, row: &[f64]) -> f64 {
        self.intercept + row.iter().zip(&self.coefficients).map(|(x, c)| x * c).sum::<f64>()
    }
}

impl RidgeProblem<'_> {
    /// Whether lengths agree and numbers are finite.
    fn is_sound(&self) -> bool {
        let (n, width) = (self.rows.len(), self.prior.len());
        n >= 2
            && self.targets.len() == n
            && self.groups.len() == n
            && self.rows.iter().all(|r| r.len() == width && r.iter().all(|v| v.is_finite()))
            && self.targets.iter().chain(self.prior).all(|v| v.is_finite())
    }

    /// Fits with penalty `lambda > 0` on squared distances from the prior; the intercept is free. `None` when lengths
    /// differ, a number is not finite, there are fewer than two rows, or the penalty is not positive.
    pub fn fit(&self, lambda: f64) -> Option<Ridge> {
        let all: Vec<usize> = (0..self.rows.len()).collect();
        if self.is_sound() { self.fit_to(&all, lambda) } else { None }
    }

    /// Solves in the space of observations, which are fewer than columns where shrinking matters.
    fn fit_to(&self, chosen: &[usize], lambda: f64) -> Option<Ridge> {
        if chosen.len() < 2 || lambda.is_nan() || lambda <= 0.0 {
            return None;
        }
        let width = self.prior.len();
        let centres: Vec<f64> =
            (0..width).map(|k| mean(&chosen.iter().map(|&i| self.rows[i][k]).collect::<Vec<_>>())).collect();
        let rows: Vec<Vec<f64>> =
            chosen.iter().map(|&i| self.rows[i].iter().zip(&centres).map(|(x, c)| x - c).collect()).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let target_mean = mean(&chosen.iter().map(|&i| self.targets[i]).collect::<Vec<_>>());
        let unexplained: Vec<f64> =
            chosen.iter().zip(&rows).map(|(&i, row)| self.targets[i] - target_mean - dot(row, self.prior)).collect();
        let mut gram: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| dot(a, b)).collect()).collect();
        gram.iter_mut().enumerate().for_each(|(i, row)| row[i] += lambda);
        let dual = solve_positive(gram, unexplained)?;
        let coefficients: Vec<f64> = (0..width)
            .map(|k| self.prior[k] + rows.iter().zip(&dual).map(|(row, a)| row[k] * a).sum::<f64>())
            .collect();
        let intercept = target_mean - dot(&centres, &coefficients);
        Some(Ridge { coefficients, intercept })
    }

    /// For each observation, the error of the fit that never saw its group, and what that fit predicts for `row`:
    /// the input of [`mod@crate::jackknife_plus`]. `None` as [`RidgeProblem::fit`], or with fewer than three groups.
    pub fn left_out(&self, lambda: f64, row: &[f64]) -> Option<Vec<LeftOut>> {
        let fits = self.fits_without_groups(lambda)?;
        if row.len() != self.prior.len() {
            return None;
        }
        Some(
            (0..self.rows.len())
                .map(|i| {
                    let fit = &fits[&self.groups[i]];
                    let residual = (self.targets[i] - fit.predict(&self.rows[i])).abs();
                    LeftOut { prediction: fit.predict(row), residual }
                })
                .collect(),
        )
    }

    /// Prediction for each observation by the fit that never saw its group. `None` as [`RidgeProblem::left_out`].
    pub fn cross_validated(&self, lambda: f64) -> Option<Vec<f64>> {
        let fits = self.fits_without_groups(lambda)?;
        Some((0..self.rows.len()).map(|i| fits[&self.groups[i]].predict(&self.rows[i])).collect())
    }

    fn fits_without_groups(&self, lambda: f64) -> Option<std::collections::BTreeMap<usize, Ridge>> {
        if !self.is_sound() {
            return None;
        }
        let groups: std::collections::BTreeSet<usize> = self.groups.iter().copied().collect();
        if groups.len() < 3 {
            return None;
        }
        groups
            .into_iter()
            .map(|group| {
                let rest: Vec<usize> = (0..self.rows.len()).filter(|&i| self.groups[i] != group).collect();
                self.fit_to(&rest, lambda).map(|fit| (group, fit))
            })
            .collect()
    }

    /// The penalty out of `candidates` with the smallest median absolute error over groups left out. `None` as
    /// [`RidgeProblem::left_out`], or without a candidate.
    pub fn best_penalty(&self, candidates: &[f64]) -> Option<f64> {
        let scored: Option<Vec<(f64, f64)>> = candidates
            .iter()
            .map(|&lambda| {
                let predictions = self.cross_validated(lambda)?;
                let errors: Vec<f64> = predictions.iter().zip(self.targets).map(|(p, t)| (p - t).abs()).collect();
                Some((lambda, median(&errors)?))
            })
            .collect();
        scored?.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(lambda, _)| lambda)
    }
}

/// Solves `matrix x = right` for a symmetric positive definite matrix by Cholesky's method; `None` when it is not.
fn solve_positive(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for j in 0..n {
        for k in 0..j {
            let factor = matrix[j][k];
            matrix[j..].iter_mut().for_each(|row| row[j] -= row[k] * factor);
        }
        let pivot = matrix[j][j];
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        let root = pivot.sqrt();
        matrix[j..].iter_mut().for_each(|row| row[j] /= root);
    }
    for i in 0..n {
        let known: f64 = (0..i).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| matrix[k][i] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, standard_normal};

    fn data(n: usize, width: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
        let mut rng = generator(seed);
        let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..width).map(|_| standard_normal(&mut rng)).collect()).collect();
        let targets = rows.iter().map(|r| 1.0 + 0.7 * r[0] + 0.3 * r[1] + 0.05 * standard_normal(&mut rng)).collect();
        (rows, targets)
    }

    #[test]
    fn weak_penalty_finds_the_truth_and_strong_one_the_prior() {
        let (rows, targets) = data(60, 4, 1);
        let groups: Vec<usize> = (0..60).collect();
        let problem = RidgeProblem { rows: &rows, targets: &targets, groups: &groups, prior: &[0.25; 4] };
        let free = problem.fit(1e-6).unwrap();
        assert!((free.coefficients[0] - 0.7).abs() < 0.03 && (free.coefficients[1] - 0.3).abs() < 0.03);
        assert!((free.intercept - 1.0).abs() < 0.03);
        let held = problem.fit(1e9).unwrap();
        assert!(held.coefficients.iter().all(|c| (c - 0.25).abs() < 1e-4));
        assert!(problem.best_penalty(&[1e-3, 1e-1, 1e3]).unwrap() < 1.0);
    }

    #[test]
    fn more_columns_than_rows() {
        let (rows, targets) = data(12, 40, 2);
        let groups: Vec<usize> = (0..12).map(|i| i / 2).collect();
        let problem = RidgeProblem { rows: &rows, targets: &targets, groups: &groups, prior: &[0.0; 40] };
        assert!(problem.fit(1.0).unwrap().coefficients.iter().all(|c| c.is_finite()));
        assert_eq!(problem.cross_validated(1.0).unwrap().len(), 12);
        let left_out = problem.left_out(1.0, &rows[0]).unwrap();
        assert_eq!(left_out[0].prediction, left_out[1].prediction);
    }

    #[test]
    fn a_group_never_sees_itself() {
        // Two members of one group share a value that nothing else explains: left out, neither helps the other.
        let rows = vec![vec![0.0]; 6];
        let targets = [1.0, 1.0, 1.0, 1.0, 9.0, 9.0];
        let problem = RidgeProblem { rows: &rows, targets: &targets, groups: &[0, 0, 1, 1, 2, 2], prior: &[0.0] };
        assert!((problem.cross_validated(1.0).unwrap()[4] - 1.0).abs() < 1e-12);
        assert!(problem.fit(0.0).is_none());
        let two = RidgeProblem { groups: &[0, 0, 0, 1, 1, 1], ..problem };
        assert!(two.cross_validated(1.0).is_none());
    }
}
