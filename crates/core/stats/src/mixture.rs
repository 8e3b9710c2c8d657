//! Shares of a whole: least squares with non-negative coefficients that sum to 1.
//!
//! Finds the composition of a quantity, where ridge regression predicts its size. Shares are shrunk towards a prior,
//! each by its own prior variance, so that a column with a small prior needs strong evidence. Minimised by accelerated
//! projected gradients (Beck and Teboulle, SIAM Journal on Imaging Sciences 2, 2009) with the projection on the simplex
//! of Duchi et al. (ICML 2008).

use crate::quantile::mean;

/// Iterations: far more than tens of columns need to converge in the third digit.
const ITERATIONS: usize = 2000;

/// Shares of the columns that explain `targets` best about their mean: `rows[i]` are the columns of observation i.
/// `prior` sums to 1; shrinkage towards it has the weight of `strength` observations of unit variance.
///
/// `None` without rows or columns, when lengths differ, with a number that is not finite, with a prior that is negative
/// or does not sum to 1, or with a strength that is not positive.
pub fn mixture(rows: &[Vec<f64>], targets: &[f64], prior: &[f64], strength: f64) -> Option<Vec<f64>> {
    let width = prior.len();
    let sound = !rows.is_empty()
        && rows.len() == targets.len()
        && rows.iter().all(|row| row.len() == width && row.iter().all(|v| v.is_finite()))
        && targets.iter().all(|v| v.is_finite())
        && prior.iter().all(|p| p.is_finite() && *p >= 0.0)
        && (prior.iter().sum::<f64>() - 1.0).abs() < 1e-6
        && strength > 0.0;
    if !sound {
        return None;
    }
    let centres: Vec<f64> = (0..width).map(|k| mean(&rows.iter().map(|row| row[k]).collect::<Vec<_>>())).collect();
    let middle = mean(targets);
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().zip(&centres).map(|(x, c)| x - c).collect()).collect();
    let targets: Vec<f64> = targets.iter().map(|t| t - middle).collect();
    // A share with a small prior is penalised more; a minimum keeps the problem well conditioned.
    let firmness: Vec<f64> = prior.iter().map(|p| strength / (p * width as f64).max(0.05)).collect();
    let step = 1.0 / (largest_eigenvalue(&rows, width) + firmness.iter().copied().fold(0.0, f64::max));
    let (mut shares, mut ahead, mut momentum) = (prior.to_vec(), prior.to_vec(), 1.0_f64);
    for _ in 0..ITERATIONS {
        let mut gradient: Vec<f64> = (0..width).map(|k| firmness[k] * (ahead[k] - prior[k])).collect();
        for (row, target) in rows.iter().zip(&targets) {
            let error = row.iter().zip(&ahead).map(|(x, w)| x * w).sum::<f64>() - target;
            gradient.iter_mut().zip(row).for_each(|(g, x)| *g += error * x);
        }
        let moved: Vec<f64> = ahead.iter().zip(&gradient).map(|(w, g)| w - step * g).collect();
        let next = onto_simplex(&moved);
        let faster = f64::midpoint(1.0, (1.0 + 4.0 * momentum * momentum).sqrt());
        let carry = (momentum - 1.0) / faster;
        ahead = next.iter().zip(&shares).map(|(new, old)| new + carry * (new - old)).collect();
        (shares, momentum) = (next, faster);
    }
    Some(shares)
}

/// An upper bound of the largest eigenvalue of the columns' products: their trace.
fn largest_eigenvalue(rows: &[Vec<f64>], width: usize) -> f64 {
    (0..width).map(|k| rows.iter().map(|row| row[k] * row[k]).sum::<f64>()).sum()
}

/// The point of the simplex nearest to `values`.
fn onto_simplex(values: &[f64]) -> Vec<f64> {
    let mut falling = values.to_vec();
    falling.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (index, value) in falling.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (index as f64 + 1.0);
        if value - candidate > 0.0 {
            shift = candidate;
        }
    }
    values.iter().map(|v| (v - shift).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{generator, standard_normal};

    #[test]
    fn a_planted_mixture_is_recovered() {
        let mut rng = generator(41);
        let rows: Vec<Vec<f64>> = (0..25)
            .map(|_| {
                let speed = 0.5 * standard_normal(&mut rng);
                (0..8).map(|_| speed + 0.3 * standard_normal(&mut rng)).collect()
            })
            .collect();
        let targets: Vec<f64> =
            rows.iter().map(|row| 3.0 + 0.6 * row[2] + 0.4 * row[5] + 0.02 * standard_normal(&mut rng)).collect();
        let shares = mixture(&rows, &targets, &[0.125; 8], 0.01).unwrap();
        assert!((shares[2] - 0.6).abs() < 0.06 && (shares[5] - 0.4).abs() < 0.06, "{shares:?}");
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn without_evidence_the_result_is_the_prior() {
        let prior = [0.5, 0.3, 0.2];
        let shares = mixture(&[vec![1.0, 2.0, 3.0]], &[7.0], &prior, 1.0).unwrap();
        assert!(shares.iter().zip(prior).all(|(s, p)| (s - p).abs() < 1e-9));
        assert!(mixture(&[], &[], &prior, 1.0).is_none());
        assert!(mixture(&[vec![1.0]], &[1.0], &[0.5], 1.0).is_none());
        assert!(mixture(&[vec![f64::NAN]], &[1.0], &[1.0], 1.0).is_none());
    }

    #[test]
    fn projection_keeps_points_of_the_simplex() {
        assert_eq!(onto_simplex(&[0.25, 0.75]), vec![0.25, 0.75]);
        assert_eq!(onto_simplex(&[2.0, 0.0]), vec![1.0, 0.0]);
    }
}
