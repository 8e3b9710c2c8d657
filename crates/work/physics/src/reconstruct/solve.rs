//! Normal equations of a few parameters.

/// A symmetric matrix of `N` rows; only the diagonal and the part below it are read.
pub type Symmetric<const N: usize> = [[f64; N]; N];

/// The inverse by Cholesky decomposition; `None` if the matrix is not positive definite.
#[must_use]
#[expect(clippy::needless_range_loop, reason = "rows and columns are named by their numbers, as in the formulas")]
pub fn invert<const N: usize>(m: &Symmetric<N>) -> Option<Symmetric<N>> {
    let mut low = [[0.0; N]; N];
    for row in 0..N {
        for column in 0..=row {
            let known: f64 = (0..column).map(|k| low[row][k] * low[column][k]).sum();
            let rest = m[row][column] - known;
            if row == column {
                // Negated, so that NaN is refused as well.
                if !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                low[row][row] = rest.sqrt();
            } else {
                low[row][column] = rest / low[column][column];
            }
        }
    }
    let mut inverse = [[0.0; N]; N];
    for unit in 0..N {
        let mut solution = [0.0; N];
        for row in 0..N {
            let known: f64 = (0..row).map(|k| low[row][k] * solution[k]).sum();
            solution[row] = (f64::from(u8::from(row == unit)) - known) / low[row][row];
        }
        for row in (0..N).rev() {
            let known: f64 = (row + 1..N).map(|k| low[k][row] * solution[k]).sum();
            solution[row] = (solution[row] - known) / low[row][row];
        }
        for row in 0..N {
            inverse[row][unit] = solution[row];
        }
    }
    Some(inverse)
}

/// Matrix times vector.
#[must_use]
pub(super) fn times<const N: usize>(m: &Symmetric<N>, v: [f64; N]) -> [f64; N] {
    std::array::from_fn(|row| (0..N).map(|k| m[row.max(k)][row.min(k)] * v[k]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_inverts() {
        let m = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]];
        let inverse = invert(&m).unwrap();
        let back = times(&inverse, times(&m, [1.0, -2.0, 3.0]));
        assert!(back.iter().zip([1.0, -2.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!(invert(&[[1.0, 1.0], [1.0, 1.0]]).is_none());
        assert!(invert(&[[f64::NAN]]).is_none());
    }
}
