//! Normal equations of three parameters.

/// A symmetric matrix of three rows: 00, 01, 02, 11, 12, 22.
pub type Symmetric = [f64; 6];

/// The inverse; `None` where there is none worth the name.
#[must_use]
pub fn invert(m: &Symmetric) -> Option<Symmetric> {
    let [a, b, c, d, e, f] = *m;
    let (aa, ab, ac) = (d * f - e * e, c * e - b * f, b * e - c * d);
    let determinant = a * aa + b * ab + c * ac;
    if determinant <= 0.0 || !determinant.is_finite() {
        return None;
    }
    let by = |x: f64| x / determinant;
    Some([by(aa), by(ab), by(ac), by(a * f - c * c), by(b * c - a * e), by(a * d - b * b)])
}

/// Matrix times vector.
#[must_use]
pub(super) fn times(m: &Symmetric, v: [f64; 3]) -> [f64; 3] {
    let [a, b, c, d, e, f] = *m;
    [a * v[0] + b * v[1] + c * v[2], b * v[0] + d * v[1] + e * v[2], c * v[0] + e * v[1] + f * v[2]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_undoes() {
        let m = [4.0, 1.0, 0.5, 3.0, -0.2, 2.0];
        let inverse = invert(&m).unwrap();
        let back = times(&inverse, times(&m, [1.0, -2.0, 3.0]));
        assert!(back.iter().zip([1.0, -2.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!(invert(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]).is_none());
    }
}
