//! Choosing the fastest of a few candidates, independent of the order in which they are timed.

use crate::ProbeError;

/// The candidate with the least best time. Every round times all of them, first in order and then in reverse, so that
/// warm-up or drift during the trials favours none.
pub(crate) fn fastest<T>(
    candidates: impl IntoIterator<Item = T>,
    rounds: usize,
    mut time: impl FnMut(&T) -> Result<f64, ProbeError>,
) -> Result<Option<T>, ProbeError> {
    let mut best: Vec<(T, f64)> = candidates.into_iter().map(|candidate| (candidate, f64::INFINITY)).collect();
    for round in 0..rounds {
        for turn in 0..best.len() {
            let at = if round.is_multiple_of(2) { turn } else { best.len() - 1 - turn };
            let (candidate, least) = &mut best[at];
            *least = least.min(time(candidate)?);
        }
    }
    Ok(best.into_iter().min_by(|left, right| left.1.total_cmp(&right.1)).map(|(candidate, _)| candidate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_changes_between_rounds() {
        let mut order = String::new();
        let found = fastest(['a', 'b', 'c'], 4, |name| {
            order.push(*name);
            Ok(if *name == 'b' { 1.0 } else { 2.0 })
        });
        assert_eq!((found, order.as_str()), (Ok(Some('b')), "abccbaabccba"));
    }

    #[test]
    fn the_choice_on_a_machine_that_slows_down_is_independent_of_the_order() {
        // Every timing is a tenth slower than the one before, and the better candidate wins from either position.
        for names in [["good", "bad"], ["bad", "good"]] {
            let mut drift = 1.0;
            let found = fastest(names, 4, |name| {
                drift *= 1.1;
                Ok(drift * if *name == "good" { 1.0 } else { 1.15 })
            });
            assert_eq!(found, Ok(Some("good")));
        }
    }

    #[test]
    fn no_candidates_give_no_choice() {
        assert_eq!(fastest(Vec::<u8>::new(), 4, |_| Ok(1.0)), Ok(None));
        assert!(fastest([1], 1, |_| Err(ProbeError::new("no"))).is_err());
    }
}
