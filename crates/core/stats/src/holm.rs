//! Holm's step-down adjustment: the chance of any false claim in a family stays below the level, whatever the
//! dependence between its members.
//!
//! Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.

/// Adjusted p-values in the order of the input, each to be compared with the level of the whole family.
///
/// Equal p-values get equal adjusted ones. NaN means that no test was possible: it stays NaN, supports no claim, and
/// does not count as a member of the family. Values are clamped to 0..=1.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|&i| !p_values[i].is_nan()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut largest = 0.0_f64;
    for (step, &index) in order.iter().enumerate() {
        let factor = (order.len() - step) as f64;
        largest = largest.max((p_values[index].max(0.0) * factor).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_family() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(adjusted.iter().zip(expected).all(|(a, e)| (a - e).abs() < 1e-12), "{adjusted:?}");
    }

    #[test]
    fn untested_members_are_not_significant_and_not_counted() {
        let adjusted = holm(&[0.02, f64::NAN, 0.5]);
        assert!((adjusted[0] - 0.04).abs() < 1e-12 && adjusted[1].is_nan() && (adjusted[2] - 0.5).abs() < 1e-12);
        assert!(holm(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn adjusted_never_smaller_and_in_the_same_order(p in prop::collection::vec(0.0..1.0_f64, 1..30)) {
            let adjusted = holm(&p);
            for i in 0..p.len() {
                prop_assert!(adjusted[i] >= p[i] && adjusted[i] <= (p[i] * p.len() as f64).clamp(p[i], 1.0).max(adjusted[i]));
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                }
            }
            let smallest = p.iter().copied().fold(1.0, f64::min);
            let first = adjusted.iter().copied().fold(1.0, f64::min);
            prop_assert!((first - (smallest * p.len() as f64).min(1.0)).abs() < 1e-12);
        }
    }
}
