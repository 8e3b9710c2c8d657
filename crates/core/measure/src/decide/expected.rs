//! At how many samples a result is expected to be within its target, from those that it has.

use super::{Classified, Goal};

/// The first checkpoint at which the result is expected to be within its target, if further samples are distributed
/// like these. `None` if the last one does not suffice.
pub(crate) fn expected(samples: &[Classified<'_>], goal: Goal<'_>) -> Option<usize> {
    of_values(&samples.iter().map(|sample| sample.value).collect::<Vec<_>>(), goal)
}

fn of_values(values: &[f64], goal: Goal<'_>) -> Option<usize> {
    let within = |checkpoint: &usize| {
        let half_width = stats::stop::expected_half_width(values, *checkpoint, goal.plan.level);
        half_width.is_some_and(|half| half <= goal.target)
    };
    goal.plan
        .checkpoints
        .iter()
        .map(|checkpoint| *checkpoint as usize)
        .filter(|checkpoint| *checkpoint > values.len())
        .find(within)
}

#[cfg(test)]
mod tests {
    use model::Plan;

    use super::*;

    fn at(values: &[f64]) -> Option<usize> {
        let plan = Plan { checkpoints: model::checkpoints(112), ..Plan::default() };
        of_values(values, Goal { plan: &plan, target: 0.02, paired: false, tick: 1 })
    }

    #[test]
    fn a_result_is_expected_where_its_values_promise_it() {
        let even = |count: i32, width: f64| -> Vec<f64> {
            (0..count).map(|at| 1.0 + width * f64::from(at * 7 % count) / f64::from(count)).collect()
        };
        assert_eq!(at(&even(10, 0.01)), Some(14));
        assert!(
            at(&even(20, 0.06)).is_some_and(|checkpoint| (28..=56).contains(&checkpoint)),
            "{:?}",
            at(&even(20, 0.06))
        );
        assert_eq!(at(&even(20, 0.5)), None);
    }

    #[test]
    fn one_sample_in_four_at_another_level_is_no_obstacle_and_every_second_one_is() {
        // Recorded levels of a system call: a quarter of the processes take an eighth longer.
        let levels: Vec<f64> =
            (0..28).map(|at| if at % 4 == 1 { 1.125 } else { 1.0 + 0.002 * f64::from(at % 3) }).collect();
        assert!(at(&levels).is_some());
        let half: Vec<f64> = (0..28).map(|at| if at % 2 == 1 { 1.125 } else { 1.0 }).collect();
        assert_eq!(at(&half), None);
    }
}
