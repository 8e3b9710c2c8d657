//! Ridge regression that shrinks towards a prior.
//!
//! Hoerl and Kennard, Technometrics 12, 1970; shrinking towards a given vector instead of zero is the normal prior of
//! Lindley and Smith, Journal of the Royal Statistical Society B 34, 1972.

use crate::quantile::mean;

/// A fitted linear prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct Ridge {
    /// Coefficient of each column.
    pub coefficients: Vec<f64>,
    /// Value where all columns are 0.
    pub intercept: f64,
}

/// Rows of columns, targets, and the prior.
#[derive(Debug, Clone, Copy)]
pub struct RidgeProblem<'a> {
    /// One row of columns for each observation.
    pub rows: &'a [Vec<f64>],
    /// Observed values.
    pub targets: &'a [f64],
    /// Coefficients to shrink to, one for each column; zeros shrink to the mean of the targets.
    pub prior: &'a [f64],
}

impl RidgeProblem<'_> {
    /// Whether lengths agree and numbers are finite.
    fn is_sound(&self) -> bool {
        let (n, width) = (self.rows.len(), self.prior.len());
        n >= 2
            && self.targets.len() == n
            && self.rows.iter().all(|r| r.len() == width && r.iter().all(|v| v.is_finite()))
            && self.targets.iter().chain(self.prior).all(|v| v.is_finite())
    }

    /// Fits with penalty `lambda > 0` on squared distances from the prior; the intercept is free. `None` when lengths
    /// differ, a number is not finite, there are fewer than two rows, or the penalty is not positive.
    pub fn fit(&self, lambda: f64) -> Option<Ridge> {
        if !self.is_sound() || lambda.is_nan() || lambda <= 0.0 {
            return None;
        }
        // Solved in the space of observations, which are fewer than columns where shrinking matters.
        let width = self.prior.len();
        let centres: Vec<f64> =
            (0..width).map(|k| mean(&self.rows.iter().map(|row| row[k]).collect::<Vec<_>>())).collect();
        let rows: Vec<Vec<f64>> =
            self.rows.iter().map(|row| row.iter().zip(&centres).map(|(x, c)| x - c).collect()).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let target_mean = mean(self.targets);
        let unexplained: Vec<f64> =
            self.targets.iter().zip(&rows).map(|(t, row)| t - target_mean - dot(row, self.prior)).collect();
        let mut gram: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| dot(a, b)).collect()).collect();
        gram.iter_mut().enumerate().for_each(|(i, row)| row[i] += lambda);
        let dual = solve_positive(gram, unexplained)?;
        let coefficients: Vec<f64> = (0..width)
            .map(|k| self.prior[k] + rows.iter().zip(&dual).map(|(row, a)| row[k] * a).sum::<f64>())
            .collect();
        let intercept = target_mean - dot(&centres, &coefficients);
        Some(Ridge { coefficients, intercept })
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
        let problem = RidgeProblem { rows: &rows, targets: &targets, prior: &[0.25; 4] };
        let free = problem.fit(1e-6).unwrap();
        assert!((free.coefficients[0] - 0.7).abs() < 0.03 && (free.coefficients[1] - 0.3).abs() < 0.03);
        assert!((free.intercept - 1.0).abs() < 0.03);
        let held = problem.fit(1e9).unwrap();
        assert!(held.coefficients.iter().all(|c| (c - 0.25).abs() < 1e-4));
    }

    #[test]
    fn more_columns_than_rows() {
        let (rows, targets) = data(12, 40, 2);
        let problem = RidgeProblem { rows: &rows, targets: &targets, prior: &[0.0; 40] };
        assert!(problem.fit(1.0).unwrap().coefficients.iter().all(|c| c.is_finite()));
        assert!(problem.fit(0.0).is_none());
    }
}
