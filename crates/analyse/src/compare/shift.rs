//! The ratio of two figures with its interval.

use model::words::digits;
use model::{Better, Estimate, EstimateMethod, Metric, Outcome, Unit};
use stats::distribution::{normal_cdf, normal_quantile, student_t_cdf, student_t_quantile};
use stats::{Floor, Interval, RatioEstimate};

use super::assumed::{Assumed, standard_error};
use super::figure_view::FigureView;
use super::result::RatioMethod;

/// Fewest valid launches on either side for a ratio from launches.
const FEWEST: usize = 6;

/// Logarithm of the largest valid ratio; beyond it a value is wrong or not finite.
pub(crate) const FARTHEST: f64 = 300.0;

/// Half-width of the widest interval around 1, a factor of a hundred: one that goes further says nothing.
pub(super) const WIDEST: f64 = 4.6;

/// Why a ratio has no interval where launches that differ determine none.
pub(crate) const UNBOUNDED: &str = "the launches of one run are too few for an interval";

/// Logarithm of other over reference, and its uncertainty.
#[derive(Debug, Clone)]
pub(crate) struct CompareShift {
    pub(crate) log: f64,
    pub(crate) known: Option<RatioEstimate>,
    pub(crate) method: RatioMethod,
    /// Why there is no interval, if there is none.
    pub(crate) reason: Option<String>,
    /// The assumed spread, if a published value states none.
    pub(crate) assumed: Option<Assumed>,
    /// Standard deviation that the floor holds for the two clocks at which times are stated.
    pub(crate) clock: Option<f64>,
}

impl CompareShift {
    /// What is known of the ratio, if its interval has ends: a few launches that drift determine none.
    pub(crate) fn bounded(&self) -> Option<&RatioEstimate> {
        self.known.as_ref().filter(|known| known.interval.half_width() < WIDEST || known.interval.is_outside(0.0))
    }
}

/// What two core figures say in cycles and in time.
#[derive(Debug, Clone)]
pub(crate) struct CoreShifts {
    pub(crate) cycles: CompareShift,
    /// Time at the clock that each machine showed.
    pub(crate) time: CompareShift,
    /// Logarithm of the other's clock over the reference's, and its standard deviation.
    pub(crate) clock: (f64, f64),
}

/// The ratio of two figures that have a single value each; else the reason why there is none.
pub(crate) fn shift(
    reference: &FigureView,
    other: &FigureView,
    floor: Floor,
    level: f64,
) -> Result<CompareShift, String> {
    let unlike = reference.metric.unit != other.metric.unit || reference.metric.better != other.metric.better;
    if unlike {
        return Err("the two runs count it in different units".to_owned());
    }
    let (a, b) = match (&*reference.outcome, &*other.outcome) {
        (Outcome::Measured(a), Outcome::Measured(b)) => (a, b),
        (a, b) => return Err(no_single_value(a, b, reference.metric)),
    };
    if !(a.value > 0.0 && b.value > 0.0) {
        return Err("a value is not positive, so there is no ratio".to_owned());
    }
    let log = (b.value / a.value).ln();
    if log.is_nan() || log.abs() >= FARTHEST {
        return Err("the values are too far apart for a ratio".to_owned());
    }
    // Of a stated spread the digits are part.
    let digits = |view: &FigureView, one: &Estimate| {
        if one.method == EstimateMethod::Stated { 0.0 } else { view.rounding }
    };
    let rounding = digits(reference, a) + digits(other, b);
    if let Some(known) = of_launches(&reference.values, &other.values, floor, level) {
        return Ok(CompareShift {
            log: known.shift,
            known: Some(rounded(known, rounding)),
            method: RatioMethod::Launches,
            reason: None,
            assumed: None,
            clock: None,
        });
    }
    let mut found = of_estimates(a, b, floor, level);
    if let Some(known) = &mut found.known {
        known.p_value = known.p_value.max(p_of_overlapping(&reference.values, &other.values));
    }
    found.known = found.known.map(|known| rounded(known, rounding));
    Ok(found)
}

/// A ratio whose sides are known to their last digits only: both may be off by all of that, in opposite directions,
/// however many launches there are.
fn rounded(mut known: RatioEstimate, rounding: f64) -> RatioEstimate {
    if rounding > 0.0 {
        for interval in [&mut known.interval, &mut known.equivalence] {
            interval.low -= rounding;
            interval.high += rounding;
        }
        known.floor_half_width += rounding;
        if known.interval.contains(0.0) {
            known.p_value = 1.0;
        }
    }
    known
}

/// The least p-value that launches allow which do not lie apart: that of the exact rank test. Estimates of few launches
/// take them for normal, and three that are alike by chance, of a figure at two levels, look like a level known
/// exactly, though launches of the other side are at it and beyond it. 0 where all of one side lie beyond all of the
/// other.
fn p_of_overlapping(a: &[f64], b: &[f64]) -> f64 {
    let few = [a, b].into_iter().any(|values| (2..FEWEST).contains(&values.len()));
    if !few || a.len() < 2 || b.len() < 2 {
        return 0.0;
    }
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let apart = most(a) < least(b) || most(b) < least(a);
    if apart { 0.0 } else { stats::mann_whitney::p_value(a, b).unwrap_or(1.0) }
}

/// Hodges-Lehmann shift and Mann-Whitney interval of launch values; `None` if there are too few.
pub(crate) fn of_launches(a: &[f64], b: &[f64], floor: Floor, level: f64) -> Option<RatioEstimate> {
    let usable = |values: &[f64]| values.len() >= FEWEST && values.iter().all(|value| *value > 0.0);
    if !usable(a) || !usable(b) {
        return None;
    }
    let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<_>>();
    stats::compare(&logs(a), &logs(b), floor, level)
}

/// Propagated from two stated intervals, each taken as that of a lognormal quantity at its own level.
pub(crate) fn of_estimates(a: &Estimate, b: &Estimate, floor: Floor, level: f64) -> CompareShift {
    let log = (b.value / a.value).ln();
    let without = |reason: &str| CompareShift {
        log,
        known: None,
        method: RatioMethod::None,
        reason: Some(reason.to_owned()),
        assumed: None,
        clock: None,
    };
    let (Some(a_error), Some(b_error)) = (standard_error(a), standard_error(b)) else {
        return without(match (a.has_spread(), b.has_spread()) {
            (false, false) => "neither figure states a spread",
            (false, true) => "the reference states no spread",
            (true, false) => "it states no spread",
            (true, true) => "an interval reaches zero, so that the ratio has none",
        });
    };
    let few = degrees_of((a, a_error), (b, b_error));
    let at = |degrees: Option<f64>, p| degrees.map_or_else(|| normal_quantile(p), |df| student_t_quantile(p, df));
    let launches_at = |level: f64| at(few, 0.5 + level / 2.0) * a_error.hypot(b_error);
    let total_at = |level: f64| launches_at(level).hypot(floor.half_width(level));
    let (launches, total) = (launches_at(level), total_at(level));
    let narrower = stats::equivalence_level(level);
    let equivalent = total_at(narrower);
    let degrees = few.into_iter().chain(floor.degrees).reduce(f64::min);
    let p_value = if total > 0.0 {
        let score = -log.abs() * at(degrees, 0.5 + level / 2.0) / total;
        2.0 * degrees.map_or_else(|| normal_cdf(score), |df| student_t_cdf(score, df))
    } else {
        f64::NAN
    };
    let known = RatioEstimate {
        shift: log,
        interval: Interval::new(log - total, log + total, level),
        equivalence: Interval::new(log - equivalent, log + equivalent, narrower),
        launch_interval: Interval::new(log - launches, log + launches, level),
        p_value,
        floor_half_width: floor.half_width(level),
        level,
        launches: a.launches.min(b.launches) as usize,
    };
    CompareShift { log, known: Some(known), method: RatioMethod::Propagated, reason: None, assumed: None, clock: None }
}

/// Degrees of freedom of a difference of estimates with their standard errors, where any of them comes from so few
/// launches that its error is itself uncertain (Welch 1947, Satterthwaite 1946); `None` if none does.
fn degrees_of(a: (&Estimate, f64), b: (&Estimate, f64)) -> Option<f64> {
    let few = |estimate: &Estimate| {
        let own = matches!(estimate.method, EstimateMethod::Range | EstimateMethod::OrderStatistic);
        own && (2..FEWEST).contains(&(estimate.launches as usize))
    };
    if !few(a.0) && !few(b.0) {
        return None;
    }
    let share = |(estimate, error): (&Estimate, f64)| {
        if few(estimate) { error.powi(4) / f64::from(estimate.launches - 1) } else { 0.0 }
    };
    let lack = share(a) + share(b);
    (lack > 0.0).then(|| (a.1.powi(2) + b.1.powi(2)).powi(2) / lack)
}

fn no_single_value(a: &Outcome, b: &Outcome, metric: &Metric) -> String {
    let say = |outcome: &Outcome, whose: &str| match outcome {
        Outcome::Unfit(reason) => Some(format!("not measured {whose}: {reason}")),
        Outcome::Failed(reason) => Some(format!("failed {whose}: {reason}")),
        Outcome::Below { .. } => Some(format!("below what can be resolved {whose}")),
        Outcome::Measured(_) | Outcome::Modes(_) => None,
    };
    let (first, second) = (say(a, "in the reference"), say(b, "here"));
    let mut text = [first, second].into_iter().flatten().collect::<Vec<_>>().join("; ");
    if let Some(bound) = one_sided(a, b, metric) {
        text = format!("{text}; {bound}");
    }
    text
}

/// Conclusion from a bound on one side, for a figure of which lower is better.
fn one_sided(a: &Outcome, b: &Outcome, metric: &Metric) -> Option<String> {
    if metric.better != Better::Lower {
        return None;
    }
    let [better, worse] = if metric.unit == Unit::Seconds { ["faster", "slower"] } else { ["better", "worse"] };
    let (least, word) = match (a, b) {
        (Outcome::Below { bound }, Outcome::Measured(other)) => (other.low / bound, worse),
        (Outcome::Measured(reference), Outcome::Below { bound }) => (reference.low / bound, better),
        _ => return None,
    };
    match least {
        // A bound of 0 is none.
        _ if !least.is_finite() => None,
        _ if least > 1.0 => Some(format!("it is at least {}x {word}", digits(least))),
        _ => Some(format!("it may be {better} or {worse}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::simulate::{generator, standard_normal};

    /// What an import makes of three values: the middle one, and the range at the level that it has.
    fn of_three(centre: f64, scatter: f64, rng: &mut impl rand::Rng) -> Estimate {
        let mut values: Vec<f64> = (0..3).map(|_| centre * (scatter * standard_normal(rng)).exp()).collect();
        values.sort_by(f64::total_cmp);
        Estimate {
            value: values[1],
            low: values[0],
            high: values[2],
            level: 0.75,
            launches: 3,
            batches: 1,
            method: EstimateMethod::Range,
        }
    }

    #[test]
    fn three_launches_a_side_are_rarely_significant_between_equals_and_twice_as_much_is() {
        let mut rng = generator(5);
        let trials = 2_000;
        let mut significant = |factor: f64| {
            let test = |_: &i32| {
                let (a, b) = (of_three(1.0, 0.1, &mut rng), of_three(factor, 0.1, &mut rng));
                of_estimates(&a, &b, Floor::known(0.0), 0.95).known.is_some_and(|known| known.p_value <= 0.05)
            };
            (0..trials).filter(test).count()
        };
        // 5% of 2,000 is 100; 130 lies three standard deviations above.
        let between_equals = significant(1.0);
        assert!(between_equals <= 130, "{between_equals} of {trials}");
        assert!(significant(2.0) >= 1_800);
    }

    #[test]
    fn few_launches_within_those_of_the_other_side_show_no_difference() {
        // Of forty launches half are at each of two levels; three that are all at one of them are no difference.
        let level = |at: usize| if at.is_multiple_of(2) { 1.0 } else { 1.15 };
        let many: Vec<f64> = (0..40).map(|at| level(at) + 1e-4 * at as f64).collect();
        let of = |values: &[f64]| {
            let found =
                stats::launch_median_interval(values, 0.95).or_else(|| stats::launch_median_range(values)).unwrap();
            let (interval, launches) = (found.interval, values.len() as u32);
            let method = EstimateMethod::OrderStatistic;
            let (low, high, level) = (interval.low, interval.high, interval.level);
            Outcome::Measured(Estimate { value: found.median, low, high, level, launches, batches: 1, method })
        };
        let p = |a: &[f64], b: &[f64]| {
            let metric = Metric { unit: Unit::Seconds, per: "call".into(), better: Better::Lower };
            let view = |values: &[f64]| FigureView {
                metric: &metric,
                outcome: std::borrow::Cow::Owned(of(values)),
                values: values.to_vec(),
                rounding: 0.0,
            };
            shift(&view(a), &view(b), Floor::NONE, 0.95).unwrap().known.unwrap().p_value
        };
        let (three, beyond) = ([1.2, 1.2001, 1.2002].map(|one| one - 0.05), [2.0, 2.0001, 2.0002]);
        assert!(p(&three, &many) > 0.05 && p(&many, &three) > 0.05, "{}", p(&three, &many));
        assert!(p(&beyond, &many) < 0.01 && p(&many, &beyond) < 0.01, "{}", p(&beyond, &many));
    }

    #[test]
    fn launches_with_few_digits_are_known_to_their_digits_only() {
        let metric = Metric { unit: Unit::Seconds, per: "run".into(), better: Better::Lower };
        let outcome = |value: f64| Estimate { level: 0.98, launches: 10, ..Estimate::without_spread(value) };
        let ratio = |a: f64, b: f64, half: f64| {
            let view = |value: f64| FigureView {
                metric: &metric,
                outcome: std::borrow::Cow::Owned(Outcome::Measured(outcome(value))),
                values: vec![value; 10],
                rounding: -(1.0 - half / value).ln(),
            };
            shift(&view(a), &view(b), Floor::NONE, 0.95).unwrap().known.unwrap()
        };
        // Ten times 0.01 and ten times 0.02 may be 0.0149 and 0.0151; 0.010 and 0.020 may not.
        let (coarse, fine) = (ratio(0.01, 0.02, 0.005), ratio(0.01, 0.02, 0.0005));
        assert!(coarse.interval.contains(0.01) && coarse.p_value == 1.0, "{coarse:?}");
        assert!(fine.p_value < 1e-4 && fine.interval.low > 0.5 && fine.interval.high < 0.8, "{fine:?}");
        assert!((ratio(0.01, 0.02, 0.0).interval.low - std::f64::consts::LN_2).abs() < 1e-9);
    }

    #[test]
    fn a_stated_interval_is_taken_at_its_word() {
        let stated = |value: f64| Estimate {
            value,
            low: value * 0.98,
            high: value * 1.02,
            level: 0.95,
            launches: 1,
            batches: 1,
            method: EstimateMethod::Stated,
        };
        let known = of_estimates(&stated(1.0), &stated(1.05), Floor::known(0.0), 0.95).known.unwrap();
        assert!(known.p_value < 0.01 && known.interval.low > 0.0, "{known:?}");
    }
}
