//! The geometric mean of ratios of results, with a propagated interval.
//!
//! Errors add on the logarithmic scale (Fleming and Wallace, Communications of the ACM 29, 1986, on why the mean of
//! ratios is geometric); the mean's interval is by Monte-Carlo propagation (JCGM 101:2008).

use rand::seq::SliceRandom;

use crate::distribution::normal_quantile;
use crate::interval::{Estimated, Interval};
use crate::quantile::quantile_of_sorted;
use crate::simulate::generator;

/// A member of a geometric mean, as logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioMember {
    /// Logarithm of the ratio.
    pub shift: f64,
    /// Its interval from the samples alone, as logarithms; `None` if no spread is known.
    pub samples: Option<Interval>,
    /// Standard deviation of that logarithm by session noise: `sqrt(2)` times the deviation between sessions.
    pub floor: f64,
    /// Class of results whose session noise is common: an index into the classes of [`Scores`].
    pub class: usize,
    /// The result: an index into the results of [`Scores`].
    pub result: usize,
    /// Its weight; only proportions matter.
    pub weight: f64,
}

/// Standard normal scores with a column for every result and every class, drawn once so that the means of several
/// machines use the same ones. Columns are stratified (Latin hypercube: McKay, Beckman and Conover, Technometrics 21,
/// 1979): with 2000 draws the ends of an interval are stable within about 2% of its width.
#[derive(Debug, Clone)]
pub struct Scores {
    results: Vec<Vec<f64>>,
    classes: Vec<Vec<f64>>,
    draws: usize,
}

impl Scores {
    /// Columns of `draws` scores, determined by the seed.
    #[must_use]
    pub fn new(results: usize, classes: usize, draws: usize, seed: u64) -> Self {
        let mut rng = generator(seed);
        let strata: Vec<f64> = (0..draws).map(|i| normal_quantile((i as f64 + 0.5) / draws as f64)).collect();
        let mut columns = |count: usize| -> Vec<Vec<f64>> {
            let column = |_| {
                let mut column = strata.clone();
                column.shuffle(&mut rng);
                column
            };
            (0..count).map(column).collect()
        };
        Self { classes: columns(classes), results: columns(results), draws }
    }
}

/// Weighted geometric mean of ratios of results between two sessions.
///
/// Each draw moves every ratio by its own interval, and all ratios of a class by one common score. A session moves all
/// its results of a class together, so more results do not average it out. All ratios must therefore have the same
/// direction of better. If the spread of a member is unknown, so is that of the mean: its interval is the value itself
/// at level 0.
///
/// `None` without members, with an input that is not finite or out of range, with zero total weight, with a class or
/// result without scores, with an interval that does not contain its shift, or with fewer than 100 draws.
pub fn geometric_mean(members: &[RatioMember], scores: &Scores, level: f64) -> Option<Estimated> {
    let total: f64 = members.iter().map(|m| m.weight).sum();
    let sound = |m: &RatioMember| {
        let finite = m.shift.is_finite() && m.floor.is_finite() && m.weight.is_finite();
        finite && m.floor >= 0.0 && m.weight >= 0.0 && m.class < scores.classes.len() && m.result < scores.results.len()
    };
    if !members.iter().all(sound) || total <= 0.0 || !total.is_finite() || scores.draws < 100 {
        return None;
    }
    let centre = members.iter().map(|m| m.weight * m.shift).sum::<f64>() / total;
    let estimated = |low: f64, high: f64, level: f64| Estimated {
        value: centre.exp(),
        interval: Interval::new(low.exp(), high.exp(), level),
    };
    if members.iter().any(|m| m.samples.is_none()) {
        return Some(estimated(centre, centre, 0.0));
    }
    let mut means = vec![0.0; scores.draws];
    for member in members {
        let split = Split::of_logs(member.shift, member.samples?)?;
        let share = member.weight / total;
        let (own, common) = (&scores.results[member.result], &scores.classes[member.class]);
        for ((mean, own), common) in means.iter_mut().zip(own).zip(common) {
            *mean += share * (split.draw(*own) + member.floor * common);
        }
    }
    means.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    let low = quantile_of_sorted(&means, tail).min(centre);
    let high = quantile_of_sorted(&means, 1.0 - tail).max(centre);
    Some(estimated(low, high, level))
}

/// Logarithm of an estimate as two half-normal distributions: sample noise has a longer tail on the slow side.
#[derive(Clone, Copy)]
struct Split {
    centre: f64,
    down: f64,
    up: f64,
}

impl Split {
    /// From a logarithm and an interval of logarithms that contains it.
    fn of_logs(centre: f64, interval: Interval) -> Option<Self> {
        let Interval { low, high, level } = interval;
        let sound = low.is_finite() && high.is_finite() && low <= centre && centre <= high;
        if !sound || level <= 0.0 || level >= 1.0 {
            return None;
        }
        let z = normal_quantile(0.5 + level / 2.0);
        Some(Self { centre, down: (centre - low) / z, up: (high - centre) / z })
    }

    fn draw(&self, z: f64) -> f64 {
        self.centre + z * if z < 0.0 { self.down } else { self.up }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of one class, each with its own weight.
    fn members(logs: &[f64], sd: f64, floor: f64, weights: &[f64]) -> Vec<RatioMember> {
        let z = 1.959_963_984_540_054;
        let member = |(result, (&shift, &weight)): (usize, (&f64, &f64))| RatioMember {
            shift,
            samples: Some(Interval::new(shift - z * sd, shift + z * sd, 0.95)),
            floor,
            class: 0,
            result,
            weight,
        };
        logs.iter().zip(weights).enumerate().map(member).collect()
    }

    #[test]
    fn independent_errors_average_out_and_shared_ones_do_not() {
        let scores = Scores::new(25, 1, 20_000, 1);
        let of =
            |floor: f64| geometric_mean(&members(&[1.1_f64.ln(); 25], 0.05, floor, &[1.0; 25]), &scores, 0.95).unwrap();
        let alone = of(0.0);
        assert!((alone.value - 1.1).abs() < 1e-12);
        assert!((alone.interval.relative_half_width() - 1.96 * 0.01).abs() < 0.0006);
        let shared = of(0.03);
        let expected = 1.96 * 0.01_f64.hypot(0.03);
        assert!((shared.interval.relative_half_width() - expected).abs() < 0.002);
        assert_eq!(shared, of(0.03));
    }

    #[test]
    fn weights_matter_and_invalid_input_has_no_mean() {
        let scores = Scores::new(21, 1, 1000, 1);
        // One benchmark at twenty points against one at a single point: each counts once.
        let logs: Vec<f64> = (0..21).map(|i| if i < 20 { 2.0_f64.ln() } else { 8.0_f64.ln() }).collect();
        let weights: Vec<f64> = (0..21).map(|i| if i < 20 { 1.0 / 20.0 } else { 1.0 }).collect();
        let mean = geometric_mean(&members(&logs, 0.01, 0.0, &weights), &scores, 0.95).unwrap();
        assert!((mean.value - 4.0).abs() < 1e-12, "{mean:?}");
        let mut unknown = members(&logs, 0.01, 0.0, &weights);
        unknown[3].samples = None;
        let mean = geometric_mean(&unknown, &scores, 0.95).unwrap();
        assert_eq!((mean.interval.level, mean.interval.low), (0.0, mean.value));
        assert!(geometric_mean(&[], &scores, 0.95).is_none());
        assert!(geometric_mean(&members(&[f64::NAN], 0.1, 0.0, &[1.0]), &scores, 0.95).is_none());
        assert!(geometric_mean(&members(&[0.0], 0.1, -1.0, &[1.0]), &scores, 0.95).is_none());
        assert!(geometric_mean(&members(&[0.0], 0.1, 0.0, &[0.0]), &scores, 0.95).is_none());
        let outside = RatioMember { result: 99, ..members(&[0.0], 0.1, 0.0, &[1.0])[0] };
        assert!(geometric_mean(&[outside], &scores, 0.95).is_none());
    }
}
