//! Ratios of figures and their geometric mean, with intervals that carry those of the figures.
//!
//! Ratios are propagated on the logarithmic scale, where errors add (Fleming and Wallace, Communications of the ACM 29,
//! 1986, on why the mean of ratios is geometric); the mean's interval is by Monte-Carlo propagation (JCGM 101:2008).

use crate::distribution::normal_quantile;
use crate::interval::{Estimated, Interval};
use crate::quantile::quantile_of_sorted;
use crate::simulate::{generator, standard_normal};

/// Ratio of two positive figures whose errors are independent. Distances from value to end of interval, as logarithms,
/// add in quadrature, each scaled to `level` from its own.
///
/// `None` unless values and ends are finite and positive, and levels lie strictly between 0 and 1.
pub fn ratio(numerator: &Estimated, denominator: &Estimated, level: f64) -> Option<Estimated> {
    let (n, d) = (Split::of(numerator)?, Split::of(denominator)?);
    let z = normal_quantile(0.5 + level / 2.0);
    let centre = n.centre - d.centre;
    let down = z * n.down.hypot(d.up);
    let up = z * n.up.hypot(d.down);
    let interval = Interval::new((centre - down).exp(), (centre + up).exp(), level);
    z.is_finite().then_some(Estimated { value: centre.exp(), interval })
}

/// A ratio that goes into a geometric mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Member {
    /// The ratio with its interval from the launches alone.
    pub ratio: Estimated,
    /// Class of figures that share one session floor: an index into the floors.
    pub class: usize,
}

/// Geometric mean of ratios of figures between two sessions.
///
/// Each draw moves every ratio by its own interval and all ratios of a class by one common error of that class, whose
/// standard deviation (of the logarithm of the ratio, so `sqrt(2)` times the deviation between sessions) is given in
/// `floors`: what moves a session moves all its figures of a kind together, so more figures do not average it out.
///
/// `None` without members, with ratios that [`ratio`] refuses, a class without a floor, a floor that is negative or not
/// finite, or fewer than 100 draws.
pub fn geometric_mean(members: &[Member], floors: &[f64], level: f64, draws: usize, seed: u64) -> Option<Estimated> {
    let splits: Option<Vec<Split>> = members.iter().map(|m| Split::of(&m.ratio)).collect();
    let splits = splits?;
    let known = members.iter().all(|m| m.class < floors.len());
    if splits.is_empty() || !known || draws < 100 || floors.iter().any(|f| !f.is_finite() || *f < 0.0) {
        return None;
    }
    let count = members.len() as f64;
    let centre = splits.iter().map(|s| s.centre).sum::<f64>() / count;
    let mut rng = generator(seed);
    let mut means: Vec<f64> = (0..draws)
        .map(|_| {
            let common: Vec<f64> = floors.iter().map(|f| f * standard_normal(&mut rng)).collect();
            let own: f64 = splits.iter().map(|s| s.draw(standard_normal(&mut rng))).sum();
            let shared: f64 = members.iter().map(|m| common[m.class]).sum();
            (own + shared) / count
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    let low = quantile_of_sorted(&means, tail).min(centre);
    let high = quantile_of_sorted(&means, 1.0 - tail).max(centre);
    Some(Estimated { value: centre.exp(), interval: Interval::new(low.exp(), high.exp(), level) })
}

/// Logarithm of an estimate as two half-normal distributions: launch noise has a longer tail on the slow side.
#[derive(Clone, Copy)]
struct Split {
    centre: f64,
    down: f64,
    up: f64,
}

impl Split {
    fn of(e: &Estimated) -> Option<Self> {
        let Interval { low, high, level } = e.interval;
        let sound = e.value > 0.0 && low > 0.0 && high.is_finite() && low <= e.value && e.value <= high;
        let bounded = level > 0.0 && level < 1.0;
        if !sound || !bounded {
            return None;
        }
        let z = normal_quantile(0.5 + level / 2.0);
        let centre = e.value.ln();
        Some(Self { centre, down: (centre - low.ln()) / z, up: (high.ln() - centre) / z })
    }

    fn draw(&self, z: f64) -> f64 {
        self.centre + z * if z < 0.0 { self.down } else { self.up }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(value: f64, sd: f64) -> Estimated {
        let z = 1.959_963_984_540_054;
        Estimated { value, interval: Interval::new(value * (-z * sd).exp(), value * (z * sd).exp(), 0.95) }
    }

    #[test]
    fn errors_add_in_quadrature() {
        let r = ratio(&around(200.0, 0.03), &around(100.0, 0.04), 0.95).unwrap();
        assert!((r.value - 2.0).abs() < 1e-12);
        assert!((r.interval.relative_half_width() - 1.96 * 0.05).abs() < 1e-4);
        assert!(
            ratio(&around(200.0, 0.03), &Estimated { value: 0.0, interval: Interval::new(0.0, 1.0, 0.95) }, 0.95)
                .is_none()
        );
    }

    #[test]
    fn a_sharper_level_of_one_part_is_not_taken_for_a_smaller_error() {
        let mut sharp = around(100.0, 0.04);
        sharp.interval =
            Interval::new(100.0 * (-2.575_829_3 * 0.04_f64).exp(), 100.0 * (2.575_829_3 * 0.04_f64).exp(), 0.99);
        let r = ratio(&around(200.0, 0.03), &sharp, 0.95).unwrap();
        assert!((r.interval.relative_half_width() - 1.96 * 0.05).abs() < 1e-4);
    }

    #[test]
    fn independent_errors_average_out_and_shared_ones_do_not() {
        let members: Vec<Member> = (0..25).map(|_| Member { ratio: around(1.1, 0.05), class: 0 }).collect();
        let alone = geometric_mean(&members, &[0.0], 0.95, 20_000, 1).unwrap();
        assert!((alone.value - 1.1).abs() < 1e-12);
        assert!((alone.interval.relative_half_width() - 1.96 * 0.01).abs() < 0.0006);
        let shared = geometric_mean(&members, &[0.03], 0.95, 20_000, 1).unwrap();
        let expected = 1.96 * 0.01_f64.hypot(0.03);
        assert!((shared.interval.relative_half_width() - expected).abs() < 0.002);
        assert_eq!(shared, geometric_mean(&members, &[0.03], 0.95, 20_000, 1).unwrap());
        assert!(geometric_mean(&members, &[], 0.95, 1000, 1).is_none());
        assert!(geometric_mean(&[], &[0.0], 0.95, 1000, 1).is_none());
    }
}
