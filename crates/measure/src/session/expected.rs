//! At how many launches a figure is expected to be within its target, from those that it has.

use model::{Estimate, EstimateMethod};
use stats::CALLING_LEVEL;
use stats::distribution::normal_quantile;

/// Launches that a figure needs until the look at which it is expected to be within its target, by the root law; `None`
/// if the last look does not suffice. `half_width` is that of the interval that declares a figure within its target,
/// infinite if there is none, and `fewest` the number of launches from which that interval exists.
pub(super) fn expected_look(made: usize, half_width: f64, target: f64, looks: &[u32], fewest: usize) -> Option<usize> {
    let needed = made as f64 * (half_width / target).powi(2);
    looks.iter().map(|look| *look as usize).find(|look| *look > made && *look >= fewest && *look as f64 >= needed)
}

/// The same for launches at several levels, to which the root law does not apply: an interval that reaches to another
/// level because that has a fifth of the launches leaves it once there are enough of them. Only a promise of half the
/// target counts, which what is spread evenly makes later than the root law.
pub(super) fn expected_of_levels(values: &[f64], target: f64, looks: &[u32], level: f64) -> Option<usize> {
    const PROMISE: f64 = 0.5;
    let enough = values.len() >= stats::stop::fewest_launches(level)?;
    let later = looks.iter().map(|look| *look as usize).filter(|look| enough && *look > values.len());
    let promised = |look: &usize| stats::stop::expected_half_width(values, *look, level);
    later.into_iter().find(|look| promised(look).is_some_and(|width| width <= PROMISE * target))
}

/// Launches to the first look at which an interval of order statistics can settle a figure, if it has fewer than
/// `fewest`: until then nothing is known of what lies between its extremes. `None` if they take more than `affordable`
/// seconds of `each`.
pub(super) fn untried(made: usize, looks: &[u32], fewest: usize, each: f64, affordable: f64) -> Option<usize> {
    let look = looks.iter().map(|look| *look as usize).find(|look| *look >= fewest)?;
    let launches = look.checked_sub(made).filter(|_| made < fewest)?;
    (launches as f64 * each <= affordable).then_some(launches)
}

/// The next look, if the launches made lie between two: a figure that was settled at the one before is not left there,
/// where an interval at its level may need more launches than there are.
pub(super) fn begun_look(made: usize, looks: &[u32]) -> Option<usize> {
    let mut looks = looks.iter().map(|look| *look as usize).skip_while(|look| *look < made);
    looks.next().filter(|look| *look > made)
}

/// The number of launches that brings most figures a launch within their targets, and how many figures: of those that
/// need so many each.
pub(super) fn most_a_launch(needed: &[usize]) -> Option<(usize, usize)> {
    let within = |launches: usize| needed.iter().filter(|own| **own <= launches).count();
    let rate = |launches: usize| within(launches) as f64 / launches as f64;
    let best = needed.iter().copied().max_by(|a, b| rate(*a).total_cmp(&rate(*b)))?;
    Some((best, within(best)))
}

/// Half-width of the interval that declares a figure within its target, from the printed one: the ratio is that of the
/// intervals of a normal distribution at both levels. That of an early look is taken without what it was widened by.
pub(super) fn calling_half_width(estimate: &Estimate) -> f64 {
    let errors = |level: f64| normal_quantile(0.5 + level.clamp(0.5, CALLING_LEVEL) / 2.0);
    let early = estimate.method == EstimateMethod::WidenedExtremes;
    let widened = if early { stats::stop::early_widening(estimate.launches as usize) } else { 1.0 };
    estimate.relative_half_width() / widened * errors(CALLING_LEVEL) / errors(estimate.level)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOKS: &[u32] = &[10, 14, 20, 28, 40];

    #[test]
    fn the_root_law_names_the_look_or_none() {
        assert_eq!(expected_look(4, 0.001, 0.02, LOOKS, 14), Some(14));
        assert_eq!(expected_look(10, 0.025, 0.02, LOOKS, 14), Some(20), "15.6 launches");
        assert_eq!(expected_look(20, 0.019, 0.02, LOOKS, 14), Some(28), "it did not finish for another reason");
        assert_eq!(expected_look(10, 0.05, 0.02, LOOKS, 14), None, "62.5 launches");
        assert_eq!(expected_look(10, f64::INFINITY, 0.02, LOOKS, 14), None, "it has no single value");
    }

    #[test]
    fn launches_at_two_levels_are_within_reach_though_the_root_law_denies_it() {
        let looks = [14, 20, 28, 40, 56, 80, 112];
        // Recorded levels of a system call: a quarter of the processes take an eighth longer.
        let levels: Vec<f64> =
            (0..26).map(|at| if at % 4 == 1 { 1.125 } else { 1.0 + 0.002 * f64::from(at % 3) }).collect();
        assert_eq!(expected_look(26, 0.0635, 0.02, &looks, 14), None, "262 launches");
        let found = expected_of_levels(&levels, 0.02, &looks, 0.95);
        assert!(found.is_some_and(|look| (56..=112).contains(&look)), "{found:?}");
        let half: Vec<f64> = (0..26).map(|at| if at % 2 == 1 { 1.125 } else { 1.0 }).collect();
        assert_eq!(expected_of_levels(&half, 0.02, &looks, 0.95), None, "which level holds the median is unknown");
        let even: Vec<f64> = (0..26).map(|at| 1.0 + 0.01 * f64::from(at)).collect();
        assert_eq!(expected_of_levels(&even, 0.02, &looks, 0.95), None);
        assert_eq!(expected_of_levels(&levels[..10], 0.02, &looks, 0.95), None, "ten are too few to tell");
    }

    #[test]
    fn a_figure_is_tried_before_it_is_out_of_reach() {
        assert_eq!(untried(9, LOOKS, 13, 0.03, 1.7), Some(5), "one of nine launches may be what makes it hopeless");
        assert_eq!(untried(13, LOOKS, 13, 0.03, 1.7), None, "its interval says what it needs");
        assert_eq!(untried(8, LOOKS, 13, 0.3, 1.7), None, "1.8 s");
        assert_eq!(untried(8, &[8, 10], 13, 0.03, 1.7), None, "there is no such look");
    }

    #[test]
    fn what_has_begun_goes_on_to_the_next_look() {
        let next = |made| begun_look(made, LOOKS);
        assert_eq!((next(11), next(39), next(10), next(40), next(41)), (Some(14), Some(40), None, None, None));
    }

    #[test]
    fn a_group_goes_to_where_most_figures_end() {
        assert_eq!(most_a_launch(&[]), None);
        assert_eq!(most_a_launch(&[6]), Some((6, 1)));
        assert_eq!(most_a_launch(&[6, 30, 30]), Some((6, 1)), "one in six, or three in thirty");
        assert_eq!(most_a_launch(&[20, 30, 30, 62]), Some((30, 3)));
    }
}
