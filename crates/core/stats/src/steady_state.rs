//! The end of warm-up: when two successive groups of batches agree.
//!
//! A simple form of the steady-state rule of Georges, Buytaert and Eeckhout (OOPSLA 2007) and Kalibera and Jones (ISMM
//! 2013). Batches form groups of four, and the last two groups must have medians within 2%.

use model::RULES;

use crate::quantile::median;

/// Whether the last two whole groups of `batches` agree, counted back from the newest batch.
pub fn is_steady(batches: &[f64]) -> bool {
    let (n, group) = (batches.len(), RULES.estimate.steady_batches as usize);
    if n < 2 * group {
        return false;
    }
    match (median(&batches[n - 2 * group..n - group]), median(&batches[n - group..])) {
        (Some(before), Some(after)) => agree(before, after),
        _ => false,
    }
}

fn agree(a: f64, b: f64) -> bool {
    (a - b).abs() <= RULES.estimate.steady_difference * a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_falling_start_is_warm_up() {
        let batches = [
            200.0, 180.0, 150.0, 130.0, 110.0, 105.0, 104.0, 103.0, 100.0, 101.0, 100.0, 99.0, 100.0, 100.0, 101.0,
            100.0,
        ];
        assert!(is_steady(&batches));
        assert!(!is_steady(&batches[..12]));
    }

    #[test]
    fn steady_from_the_start_needs_two_groups() {
        assert!(is_steady(&[5.0; 8]));
        assert!(!is_steady(&[5.0; 7]));
        assert!(!is_steady(&[1.0, 1.0, f64::NAN, 1.0, 1.0, 1.0, 1.0, 1.0]));
    }
}
