//! Choosing the fastest of a few candidates, independent of the order in which they are timed, and of chance where some
//! are equally fast.

use crate::BenchmarkError;

/// The first candidate that is as fast as the fastest, within `equal` of its time. Every round times all of them, first
/// in order and then in reverse, so that warm-up or drift during the trials favours none. A candidate's time is the
/// quartile of its trials: the least of them may have found in a cache what others did not. The first of equals is the
/// same one in the next run, where the fastest by a percent is another one by chance.
pub(crate) fn fastest<T>(
    candidates: impl IntoIterator<Item = T>,
    rounds: usize,
    equal: f64,
    mut time: impl FnMut(&T) -> Result<f64, BenchmarkError>,
) -> Result<Option<T>, BenchmarkError> {
    let mut trials: Vec<(T, Vec<f64>)> = candidates.into_iter().map(|candidate| (candidate, Vec::new())).collect();
    for round in 0..rounds {
        for place in 0..trials.len() {
            let at = if round.is_multiple_of(2) { place } else { trials.len() - 1 - place };
            let (candidate, times) = &mut trials[at];
            times.push(time(candidate)?);
        }
    }
    let timed = trials.into_iter().filter_map(|(candidate, times)| Some((candidate, stats::quantile(&times, 0.25)?)));
    let timed: Vec<(T, f64)> = timed.collect();
    let least = timed.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
    Ok(timed.into_iter().find(|(_, time)| *time <= least * (1.0 + equal)).map(|(candidate, _)| candidate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_changes_between_rounds() {
        let mut order = String::new();
        let found = fastest(['a', 'b', 'c'], 4, 0.0, |name| {
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
            let found = fastest(names, 4, 0.0, |name| {
                drift *= 1.1;
                Ok(drift * if *name == "good" { 1.0 } else { 1.15 })
            });
            assert_eq!(found, Ok(Some("good")));
        }
    }

    #[test]
    fn the_first_of_equals_is_chosen_whichever_was_lucky() {
        let times = |lucky: &str| {
            let mut trial = 0_u32;
            let lucky = lucky.to_owned();
            move |name: &&str| {
                trial += 1;
                let chance = 1.0 + 0.01 * f64::from(trial * 7 % 5);
                let own = match *name {
                    "slow" => 1.1,
                    "first" | "second" => 1.0,
                    _ => return Err(BenchmarkError::new("unknown")),
                };
                // One trial in eight found its data in a cache.
                Ok(own * chance * if *name == lucky && trial.is_multiple_of(8) { 0.7 } else { 1.0 })
            }
        };
        for lucky in ["slow", "first", "second"] {
            assert_eq!(fastest(["slow", "first", "second"], 12, 0.04, times(lucky)), Ok(Some("first")), "{lucky}");
        }
    }

    #[test]
    fn no_candidates_give_no_choice() {
        assert_eq!(fastest(Vec::<u8>::new(), 4, 0.0, |_| Ok(1.0)), Ok(None));
        assert!(fastest([1], 1, 0.0, |_| Err(BenchmarkError::new("no"))).is_err());
    }
}
