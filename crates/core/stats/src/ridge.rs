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
        n >= 1
            && self.targets.len() == n
            && self.rows.iter().all(|r| r.len() == width && r.iter().all(|v| v.is_finite()))
            && self.targets.iter().chain(self.prior).all(|v| v.is_finite())
    }

    /// Fits with penalty `lambda > 0` on squared distances from the prior; the intercept is free. A single
    /// row keeps the prior. `None` when lengths differ, a number is not finite, there is no row, or the penalty is not
    /// positive.
    pub fn fit(&self, lambda: f64) -> Option<Ridge> {
        if !self.is_sound() || lambda.is_nan() || lambda <= 0.0 {
            return None;
        }
        let width = self.prior.len();
        let centres: Vec<f64> =
            (0..width).map(|k| mean(&self.rows.iter().map(|row| row[k]).collect::<Vec<_>>())).collect();
        let rows: Vec<Vec<f64>> =
            self.rows.iter().map(|row| row.iter().zip(&centres).map(|(x, c)| x - c).collect()).collect();
        let target_mean = mean(self.targets);
        let unexplained: Vec<f64> =
            self.targets.iter().zip(&rows).map(|(t, row)| t - target_mean - dot(row, self.prior)).collect();
        // The same solution in the space of the columns or of the observations, whichever has fewer dimensions.
        let apart = if width < rows.len() {
            let columns: Vec<Vec<f64>> = (0..width).map(|k| rows.iter().map(|row| row[k]).collect()).collect();
            let right = columns.iter().map(|column| dot(column, &unexplained)).collect();
            solve_positive(products(&columns, lambda), right)?
        } else {
            let dual = solve_positive(products(&rows, lambda), unexplained)?;
            (0..width).map(|k| rows.iter().zip(&dual).map(|(row, a)| row[k] * a).sum::<f64>()).collect()
        };
        let coefficients: Vec<f64> = self.prior.iter().zip(&apart).map(|(prior, apart)| prior + apart).collect();
        let intercept = target_mean - dot(&centres, &coefficients);
        Some(Ridge { coefficients, intercept })
    }
}

/// Products of every two vectors, the lower half, and the penalty on the diagonal.
fn products(vectors: &[Vec<f64>], lambda: f64) -> Vec<Vec<f64>> {
    let product = |(i, a): (usize, &Vec<f64>)| {
        let mut row: Vec<f64> = vectors[..=i].iter().map(|b| dot(a, b)).collect();
        row[i] += lambda;
        row
    };
    vectors.iter().enumerate().map(product).collect()
}

/// Sum of the products of pairs; four sums at once, since one would wait for each addition.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (fours, others) = (a.chunks_exact(4).zip(b.chunks_exact(4)), a.len().min(b.len()) / 4 * 4);
    let mut sums = [0.0; 4];
    for (x, y) in fours {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x * y;
        }
    }
    let rest: f64 = a[others..].iter().zip(&b[others..]).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

/// Solves `matrix x = right` for a symmetric positive definite matrix, given by its lower half, by Cholesky's method.
/// `None` if it is not positive definite. Row by row, so that all sums run along rows.
fn solve_positive(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for i in 0..n {
        let (above, rest) = matrix.split_at_mut(i);
        let row = &mut rest[0];
        for (j, other) in above.iter().enumerate() {
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        row[i] = pivot.sqrt();
    }
    for i in 0..n {
        right[i] = (right[i] - dot(&matrix[i][..i], &right[..i])) / matrix[i][i];
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

    /// At the solution each column's product with the residual equals the penalty times the column's distance from the
    /// prior. This holds for fewer columns than rows, as many, and more.
    #[test]
    fn the_solution_balances_misfit_and_penalty_in_both_spaces() {
        for (n, width) in [(3, 40), (12, 12), (40, 3), (13, 12)] {
            let (rows, targets) = data(n, width, 7 + n as u64);
            let (prior, lambda) = (vec![0.1; width], 0.7);
            let found = RidgeProblem { rows: &rows, targets: &targets, prior: &prior }.fit(lambda).unwrap();
            let left: Vec<f64> =
                rows.iter().zip(&targets).map(|(row, t)| t - found.intercept - dot(row, &found.coefficients)).collect();
            assert!(left.iter().sum::<f64>().abs() < 1e-9, "{n} x {width}");
            for (k, coefficient) in found.coefficients.iter().enumerate() {
                let misfit: f64 = rows.iter().zip(&left).map(|(row, left)| row[k] * left).sum();
                assert!((misfit - lambda * (coefficient - prior[k])).abs() < 1e-9, "{n} x {width}: {k}");
            }
        }
    }

    #[test]
    fn equations_are_solved_and_sums_take_every_pair() {
        for n in 1..10_usize {
            let numbers: Vec<f64> = (1..=n).map(|i| i as f64).collect();
            let squares: f64 = numbers.iter().map(|x| x * x).sum();
            assert!((dot(&numbers, &numbers) - squares).abs() < 1e-9, "{n}");
            let full = |i: usize, j: usize| if i == j { n as f64 + 1.0 } else { 1.0 / (1 + i.max(j)) as f64 };
            let lower: Vec<Vec<f64>> = (0..n).map(|i| (0..=i).map(|j| full(i, j)).collect()).collect();
            let right: Vec<f64> = (0..n).map(|i| (0..n).map(|j| full(i, j) * numbers[j]).sum()).collect();
            let found = solve_positive(lower, right).unwrap();
            assert!(found.iter().zip(&numbers).all(|(x, y)| (x - y).abs() < 1e-9), "{n}");
        }
        assert!(solve_positive(vec![vec![1.0], vec![2.0, 1.0]], vec![1.0, 1.0]).is_none());
    }

    #[test]
    fn more_columns_than_rows() {
        let (rows, targets) = data(12, 40, 2);
        let problem = RidgeProblem { rows: &rows, targets: &targets, prior: &[0.0; 40] };
        assert!(problem.fit(1.0).unwrap().coefficients.iter().all(|c| c.is_finite()));
        assert!(problem.fit(0.0).is_none());
    }
}
