//! Whether two results may be called different, or the same.
//!
//! The shift is the Hodges-Lehmann estimate with its Mann-Whitney interval; between runs the interval is widened by the
//! session noise. The verdict requires practical relevance as well as significance: `Different` lies wholly outside a
//! margin around zero. `Same` passes two one-sided tests, one for each edge of the margin, each at the level of the
//! report. Only one of the two can be wrong, so both at 5% together are a test at 5%. They pass where the interval at
//! 90% is wholly inside (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987; Lakens, Social
//! Psychological and Personality Science 8, 2017).

use crate::distribution::{normal_cdf, normal_quantile, student_t_cdf, student_t_quantile};
use crate::effective::Persistence;
use crate::hodges_lehmann::{HodgesLehmannShift, one_sample, two_sample};
use crate::interval::Interval;
use crate::quantile::standard_deviation;

/// Half-width of the margin within which two results count as equal: 2%, as a logarithm of the ratio.
pub const BAND: f64 = model::RULES.compare.band;

/// How much a result moves between sessions, for reasons that no number of samples averages out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// Standard deviation of the logarithm of the result between sessions of one machine, `own` included.
    pub sd: f64,
    /// Variance that the sessions' own errors contribute to that of `sd`: a comparison has the errors of its two
    /// sessions as well as the session noise.
    pub own: f64,
    /// Degrees of freedom of `sd`: number of sessions minus one if it was estimated, `None` if it is taken as known.
    pub degrees: Option<f64>,
}

impl Floor {
    /// No session noise: both samples are from one session, with interleaved samples.
    pub const NONE: Self = Self { sd: 0.0, own: 0.0, degrees: None };

    /// A standard deviation that is taken as known, such as the default of a class of results.
    pub fn known(sd: f64) -> Self {
        Self { sd, own: 0.0, degrees: None }
    }

    /// Estimated from one result in several sessions of one machine, each the logarithm of its value and the standard
    /// error of that (0 if it is unknown). `None` below three sessions or with a value that is not finite.
    pub fn from_sessions(sessions: &[(f64, f64)]) -> Option<Self> {
        if sessions.len() < model::RULES.noise.fewest_sessions as usize {
            return None;
        }
        let logs: Vec<f64> = sessions.iter().map(|session| session.0).collect();
        let own = sessions.iter().map(|(_, error)| error * error).sum::<f64>() / sessions.len() as f64;
        let own = if own.is_finite() { own } else { 0.0 };
        standard_deviation(&logs).map(|sd| Self { sd, own, degrees: Some((logs.len() - 1) as f64) })
    }

    /// How far sessions lie apart beyond their own errors: a standard deviation, 0 where those explain all of it.
    #[must_use]
    pub fn between(&self) -> f64 {
        (self.sd * self.sd - self.own).max(0.0).sqrt()
    }

    /// The session noise plus another known error of the difference, given by its standard deviation, such as that of
    /// the two clocks. Degrees of freedom by Welch and Satterthwaite (Biometrika 34, 1947).
    #[must_use]
    pub fn beside(self, error: f64) -> Self {
        if error == 0.0 {
            return self;
        }
        let (own, both) = (self.sd * self.sd, self.sd * self.sd + error * error / 2.0);
        let degrees = self.degrees.filter(|_| own > 0.0).map(|degrees| degrees * (both / own) * (both / own));
        Self { sd: both.sqrt(), degrees, ..self }
    }

    /// Half-width at `level` that the floor adds in quadrature to that of two sessions' samples. The quantile is
    /// Student's if the deviation was estimated, else normal.
    ///
    /// The sessions' own errors within an estimated deviation are subtracted, with the quantile of the samples. If all
    /// sessions have similar errors, the sum is Student's interval of the observed deviation, but never less than that
    /// of the samples.
    pub fn half_width(&self, level: f64) -> f64 {
        if self.sd == 0.0 {
            return 0.0;
        }
        let p = 0.5 + level / 2.0;
        let quantile = self.degrees.map_or_else(|| normal_quantile(p), |df| student_t_quantile(p, df));
        (2.0 * quantile * quantile * self.sd * self.sd - self.own_square(level)).max(0.0).sqrt()
    }

    /// Square of the half-width at `level` of the difference of two sessions that differ by their own errors alone.
    fn own_square(&self, level: f64) -> f64 {
        if self.own == 0.0 {
            return 0.0;
        }
        let quantile = normal_quantile(0.5 + level / 2.0);
        2.0 * quantile * quantile * self.own
    }

    /// Whether [`half_width`](Self::half_width) at `level` is less than `room`. It evaluates the distribution itself,
    /// which costs far less than its quantile.
    fn is_within(&self, room: f64, level: f64) -> bool {
        if self.sd == 0.0 {
            return room > 0.0;
        }
        let widths = ((room * room + self.own_square(level)) / 2.0).sqrt() / self.sd;
        self.degrees.map_or_else(|| normal_cdf(widths), |df| student_t_cdf(widths, df)) > 0.5 + level / 2.0
    }
}

/// Estimate of the ratio of two results, in logarithms: 0.01 is one percent.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioEstimate {
    /// Estimated logarithm of B over A.
    pub shift: f64,
    /// Its interval, including autocorrelation and session noise.
    pub interval: Interval,
    /// The same at the level of two one-sided tests (90% for 95%), by which equivalence is judged.
    pub equivalence: Interval,
    /// Two-sided p-value of "no shift" that belongs to `interval`: one minus the level at which that interval would
    /// just reach zero.
    pub p_value: f64,
    /// Half-width that the session noise alone adds in quadrature.
    pub floor_half_width: f64,
    /// Requested confidence level.
    pub level: f64,
    /// Samples of the smaller sample.
    pub samples: usize,
}

/// Verdict on two results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EquivalenceVerdict {
    /// Significant after adjustment, and by more than the margin.
    Different,
    /// By less than the band.
    NoChange,
    /// Neither can be shown with this number of samples.
    Inconclusive,
}

/// Compares sample values `b` against `a`, given as logarithms in the order of time.
///
/// `None` when a value is not finite or there are too few for `level` (fewer than four each at 95%).
pub fn compare(a: &[f64], b: &[f64], floor: Floor, level: f64) -> Option<RatioEstimate> {
    let shift = two_sample(a, b)?;
    let widening = |level| Widening { stretch: Persistence::stretch(&[a, b], level), floor };
    estimated(&shift, &widening, level, a.len().min(b.len()))
}

/// Compares B with A from differences of logarithms in the order of time. Both sides of each pair share their
/// conditions, so that a common disturbance cancels.
///
/// `None` when a difference is not finite or there are too few for `level` (fewer than six at 95%).
pub fn compare_pairs(differences: &[f64], level: f64) -> Option<RatioEstimate> {
    let shift = one_sample(differences)?;
    let widening = |level| Widening { stretch: Persistence::stretch(&[differences], level), floor: Floor::NONE };
    estimated(&shift, &widening, level, differences.len())
}

/// The level of an interval that both of two one-sided tests pass where it is wholly inside: 0.9 for tests at 0.95.
pub fn equivalence_level(level: f64) -> f64 {
    (2.0 * level - 1.0).max(0.0)
}

fn estimated(
    shift: &HodgesLehmannShift,
    widening_at: &dyn Fn(f64) -> Widening,
    level: f64,
    samples: usize,
) -> Option<RatioEstimate> {
    let sample_interval = shift.interval(level)?;
    let widening = widening_at(level);
    let plain = widening.floor.sd == 0.0 && widening.stretch == 1.0;
    let interval = widening.apply(shift.estimate, sample_interval, level);
    let narrower = equivalence_level(level);
    let equivalence = shift
        .interval(narrower)
        .map_or(interval, |samples| widening_at(narrower).apply(shift.estimate, samples, narrower));
    Some(RatioEstimate {
        shift: shift.estimate,
        interval,
        equivalence,
        p_value: if plain { shift.p_value } else { widening.p_value(shift) },
        floor_half_width: widening.floor.half_width(level),
        level,
        samples,
    })
}

/// Widening of the interval from the samples.
struct Widening {
    /// Factor on the distance of each end from the estimate, for samples that resemble their neighbours.
    stretch: f64,
    floor: Floor,
}

impl Widening {
    fn apply(&self, centre: f64, samples: Interval, level: f64) -> Interval {
        let floor = self.floor.half_width(level);
        let down = (self.stretch * (centre - samples.low)).hypot(floor);
        let up = (self.stretch * (samples.high - centre)).hypot(floor);
        Interval { low: centre - down, high: centre + up, level: if floor > 0.0 { level } else { samples.level } }
    }

    /// The smallest p at which the widened interval of level 1 - p excludes zero. Intervals nest, so bisection finds
    /// it. Below the smallest p that the samples allow there is no interval, so nothing excludes zero.
    fn p_value(&self, shift: &HodgesLehmannShift) -> f64 {
        let centre = shift.estimate;
        let excludes = |ln_p: f64| {
            let level = 1.0 - ln_p.exp();
            shift.interval(level).is_some_and(|i| {
                // The end towards zero. It is past zero if the samples and the session noise in quadrature are less
                // than the shift.
                let samples = self.stretch * if centre > 0.0 { centre - i.low } else { i.high - centre };
                let room = centre * centre - samples * samples;
                room > 0.0 && self.floor.is_within(room.sqrt(), level)
            })
        };
        let (mut claimed, mut open) = (0.0_f64, -30.0_f64);
        if !excludes(-1e-9) {
            return 1.0;
        }
        for _ in 0..40 {
            let mid = claimed.midpoint(open);
            if excludes(mid) { claimed = mid } else { open = mid }
        }
        claimed.exp()
    }
}

/// The three-way verdict. `adjusted_p` is the comparison's p-value after [`crate::holm`] over all results of the
/// report; NaN (no test) never gives a difference. `band` is the half-width of the band, such as [`BAND`].
pub fn verdict(comparison: &RatioEstimate, adjusted_p: f64, band: f64) -> EquivalenceVerdict {
    if comparison.equivalence.is_inside(band) {
        EquivalenceVerdict::NoChange
    } else if adjusted_p <= 1.0 - comparison.level && comparison.interval.is_outside(band) {
        EquivalenceVerdict::Different
    } else {
        EquivalenceVerdict::Inconclusive
    }
}

/// The smallest true change, as a logarithm, that a comparison as noisy as this one would call different with a
/// probability of `power`, as one of `tests` tests of a report.
///
/// A change is called where the interval lies outside `band` and the test passes; Holm's strictest step, the error
/// probability over the number of tests, is the safe side of the latter. The estimate scatters around the true change
/// with the standard error of which the interval is a multiple, so that the change must exceed the wider of the two
/// limits by the normal quantile of `power`.
pub fn detectable(comparison: &RatioEstimate, band: f64, power: f64, tests: usize) -> f64 {
    detectable_within(comparison.interval.half_width(), comparison.level, band, power, tests)
}

/// The same from the half-width of an interval at `level`.
pub fn detectable_within(half: f64, level: f64, band: f64, power: f64, tests: usize) -> f64 {
    let error = half / normal_quantile(0.5 + level / 2.0);
    let strictest = normal_quantile(1.0 - (1.0 - level) / (2.0 * tests.max(1) as f64));
    (band + half).max(strictest * error) + normal_quantile(power).max(0.0) * error
}

/// What would decide an inconclusive comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionNeed {
    /// This many more samples of each result, for an 80% chance.
    Samples(usize),
    /// Session noise is too wide for samples to decide: this many sessions of each machine.
    Sessions(usize),
    /// The shift is so close to the edge of the margin that no reasonable effort decides.
    TooClose,
}

/// Largest number of samples or sessions that is proposed.
const MAX_PROPOSED: f64 = 1000.0;

/// The effort that would decide `comparison` with margin `band` if its shift is the true one.
///
/// Widths shrink with the square root of the samples; session noise does not. For a chance of `power` (such as 0.8) the
/// end of the interval must clear the margin by the normal quantile of `power` plus its own half-width.
pub fn need(comparison: &RatioEstimate, band: f64, power: f64) -> DecisionNeed {
    let gap = (comparison.shift.abs() - band).abs();
    // Inside the margin the result can become `Same`, which the narrower interval decides.
    let (level, width) = if comparison.shift.abs() < band {
        (equivalence_level(comparison.level), comparison.equivalence.half_width())
    } else {
        (comparison.level, comparison.interval.half_width())
    };
    let z = normal_quantile(0.5 + level / 2.0);
    let room = gap / (1.0 + normal_quantile(power).max(0.0) / z);
    let whole = comparison.interval.half_width();
    let floor = comparison.floor_half_width * if whole > 0.0 { width / whole } else { 1.0 };
    let total = width;
    let samples = (total * total - floor * floor).max(0.0);
    if room > floor {
        let factor = samples / (room * room - floor * floor);
        let wanted = (comparison.samples as f64 * factor).ceil();
        if wanted <= MAX_PROPOSED {
            return DecisionNeed::Samples((wanted as usize).saturating_sub(comparison.samples));
        }
    }
    // With this many sessions on each side and samples spread over them, all terms shrink with the number of sessions.
    let sessions = ((samples + floor * floor) / (room * room)).ceil();
    if floor > 0.0 && sessions <= MAX_PROPOSED.sqrt() {
        DecisionNeed::Sessions(sessions.max(2.0) as usize)
    } else {
        DecisionNeed::TooClose
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty values around `centre` with a standard deviation of about `sd`, in an order without autocorrelation.
    fn samples(centre: f64, sd: f64) -> Vec<f64> {
        let order = [3, 17, 8, 12, 1, 19, 6, 14, 10, 0, 16, 5, 11, 18, 2, 9, 15, 4, 13, 7];
        order.iter().map(|&i| centre + sd * normal_quantile((f64::from(i) + 0.5) / 20.0)).collect()
    }

    #[test]
    fn three_verdicts() {
        let a = samples(1.0, 0.005);
        let judge = |b: &[f64], floor| {
            let c = compare(&a, b, floor, 0.95).unwrap();
            verdict(&c, c.p_value, BAND)
        };
        assert_eq!(judge(&samples(1.05, 0.005), Floor::NONE), EquivalenceVerdict::Different);
        assert_eq!(judge(&samples(0.95, 0.005), Floor::NONE), EquivalenceVerdict::Different);
        assert_eq!(judge(&samples(1.001, 0.005), Floor::NONE), EquivalenceVerdict::NoChange);
        assert_eq!(judge(&samples(1.02, 0.005), Floor::NONE), EquivalenceVerdict::Inconclusive);
        assert_eq!(judge(&samples(1.05, 0.005), Floor::known(0.02)), EquivalenceVerdict::Inconclusive);
        assert_eq!(judge(&samples(1.001, 0.05), Floor::NONE), EquivalenceVerdict::Inconclusive);
    }

    #[test]
    fn a_change_of_the_detectable_size_is_found_four_times_in_five() {
        let mut rng = crate::simulate::generator(11);
        let mut draw = |centre: f64, count: usize| -> Vec<f64> {
            (0..count).map(|_| centre + 0.03 * crate::simulate::standard_normal(&mut rng)).collect()
        };
        for (count, tests) in [(12, 1), (20, 1), (40, 1), (20, 30), (40, 30)] {
            let mut compared =
                |change: f64| compare(&draw(0.0, count), &draw(change, count), Floor::NONE, 0.95).unwrap();
            let sizes: Vec<f64> = (0..200).map(|_| detectable(&compared(0.0), BAND, 0.8, tests)).collect();
            let size = crate::median(&sizes).unwrap();
            let mut found = |change: f64| {
                let is =
                    |c: &RatioEstimate| verdict(c, c.p_value * tests as f64, BAND) == EquivalenceVerdict::Different;
                (0..400).filter(|_| is(&compared(change))).count() as f64 / 400.0
            };
            let (power, half) = (found(size), found(size / 2.0));
            assert!((0.65..=0.92).contains(&power) && half < 0.4, "{count} {tests}: {size} {power} {half}");
        }
    }

    #[test]
    fn no_test_never_claims_a_difference() {
        let c = compare(&samples(1.0, 0.005), &samples(1.5, 0.005), Floor::NONE, 0.95).unwrap();
        assert_eq!(verdict(&c, f64::NAN, BAND), EquivalenceVerdict::Inconclusive);
        assert!(compare(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], Floor::NONE, 0.95).is_none());
    }

    #[test]
    fn p_and_interval_agree_under_a_floor() {
        let a = samples(0.0, 0.004);
        let estimated = |error: f64| Floor { sd: 0.005, own: error * error, degrees: Some(2.0) };
        for floor in [Floor::known(0.005), estimated(0.0), estimated(0.003), estimated(0.006)] {
            for step in 0..60 {
                let c = compare(&a, &samples(0.001 * f64::from(step), 0.004), floor, 0.95).unwrap();
                assert_eq!(c.p_value <= 0.05, !c.interval.contains(0.0), "step {step}: {c:?}");
            }
        }
    }

    #[test]
    fn floor_alone_sets_the_width_of_quiet_results() {
        let c = compare(&samples(0.0, 1e-6), &samples(0.0, 1e-6), Floor::known(0.01), 0.95).unwrap();
        assert!((c.interval.half_width() - 1.96 * 2.0_f64.sqrt() * 0.01).abs() < 1e-4);
        let estimated = Floor::from_sessions(&[(0.0, 0.0), (0.01, 0.0), (0.02, 0.0)]).unwrap();
        assert!((estimated.half_width(0.95) - 4.302_65 * 2.0_f64.sqrt() * 0.01).abs() < 1e-5);
        assert!(Floor::from_sessions(&[(0.0, 0.0), (0.01, 0.0)]).is_none());
    }

    #[test]
    fn needs_are_samples_then_sessions_then_none() {
        let a = samples(0.0, 0.03);
        let c = compare(&a, &samples(0.0, 0.03), Floor::NONE, 0.95).unwrap();
        let DecisionNeed::Samples(more) = need(&c, BAND, 0.8) else { panic!("{c:?}") };
        assert!((10..80).contains(&more), "{more}");
        let c = compare(&a, &samples(0.05, 0.03), Floor::known(0.02), 0.95).unwrap();
        assert!(matches!(need(&c, BAND, 0.8), DecisionNeed::Sessions(2..=12)), "{:?}", need(&c, BAND, 0.8));
        let c = compare(&a, &samples(0.02, 0.03), Floor::NONE, 0.95).unwrap();
        assert_eq!(need(&c, c.shift.abs(), 0.8), DecisionNeed::TooClose);
    }
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod pairs_tests;
