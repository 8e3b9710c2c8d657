//! The ratio of two results with its interval.

use model::words::digits;
use model::{Better, Estimate, EstimateMethod, Metric, Outcome, Unit};
use stats::distribution::{normal_cdf, normal_quantile, student_t_cdf, student_t_quantile};
use stats::{Floor, Interval, RatioEstimate};

use super::assumed::{Assumed, standard_error};
use super::result::RatioMethod;
use super::result_view::ResultView;

/// Fewest samples on either side for a verdict.
pub(crate) const FEWEST: usize = model::FEWEST_SAMPLES as usize;

/// Logarithm of the largest valid ratio; beyond it a value is wrong or not finite.
pub(crate) const FARTHEST: f64 = 300.0;

/// Half-width of the widest interval around 1, a factor of a hundred: one that goes further says nothing.
pub(super) const WIDEST: f64 = 4.6;

/// Why a ratio has no interval where samples that differ determine none.
pub(crate) const UNBOUNDED: &str = "too few samples in one run for an interval";

/// Logarithm of other over reference, and its uncertainty.
#[derive(Debug, Clone)]
pub(crate) struct CompareShift {
    pub(crate) log: f64,
    pub(crate) known: Option<RatioEstimate>,
    pub(crate) method: RatioMethod,
    /// Why there is no interval, if so.
    pub(crate) reason: Option<String>,
    /// The assumed spread, if a published value states none.
    pub(crate) assumed: Option<Assumed>,
    /// Standard deviation of the noise from the two clocks at which times are stated.
    pub(crate) clock: Option<f64>,
}

impl CompareShift {
    /// A logarithm without further information.
    pub(super) fn of(log: f64) -> Self {
        Self { log, known: None, method: RatioMethod::None, reason: None, assumed: None, clock: None }
    }

    /// A ratio without an interval, and why.
    pub(super) fn without_interval(log: f64, reason: &str) -> Self {
        Self { reason: Some(reason.to_owned()), ..Self::of(log) }
    }

    /// The ratio if its interval has ends: a few samples that drift determine none.
    pub(crate) fn bounded(&self) -> Option<&RatioEstimate> {
        self.known.as_ref().filter(|known| known.interval.half_width() < WIDEST || known.interval.is_outside(0.0))
    }
}

/// The comparison of two core results in cycles and in time.
#[derive(Debug, Clone)]
pub(crate) struct CoreShifts {
    pub(crate) cycles: CompareShift,
    /// Time at the clock that each machine showed.
    pub(crate) time: CompareShift,
    /// Logarithm of the other's clock over the reference's, and its standard deviation.
    pub(crate) clock: (f64, f64),
}

/// The ratio of two results with a single value each, as printed next to these values, or the reason why there is none.
///
/// A value is a median, and the interval is that of a shift of ranks, which need not contain the ratio of medians. It
/// is therefore widened until it does.
pub(crate) fn shift(
    reference: &ResultView,
    other: &ResultView,
    floor: Floor,
    level: f64,
) -> Result<CompareShift, String> {
    let mut found = shift_of_ranks(reference, other, floor, level)?;
    if let (Outcome::Measured(a), Outcome::Measured(b)) = (&*reference.outcome, &*other.outcome) {
        found.log = (b.value / a.value).ln();
    }
    if let Some(known) = &mut found.known {
        known.shift = found.log;
        for interval in [&mut known.interval, &mut known.equivalence] {
            interval.low = interval.low.min(found.log);
            interval.high = interval.high.max(found.log);
        }
    }
    Ok(found)
}

/// The same where the two values are not printed: from samples it is the shift of their ranks.
pub(crate) fn shift_of_ranks(
    reference: &ResultView,
    other: &ResultView,
    floor: Floor,
    level: f64,
) -> Result<CompareShift, String> {
    let unlike = reference.metric.unit != other.metric.unit || reference.metric.better != other.metric.better;
    if unlike {
        return Err("the two runs use different units".to_owned());
    }
    let (a, b) = match (&*reference.outcome, &*other.outcome) {
        (Outcome::Measured(a), Outcome::Measured(b)) => (a, b),
        (a, b) => return Err(no_single_value(a, b, reference.metric)),
    };
    if !(a.value > 0.0 && b.value > 0.0) {
        return Err("no ratio: a value is not positive".to_owned());
    }
    let log = (b.value / a.value).ln();
    if log.is_nan() || log.abs() >= FARTHEST {
        return Err("no ratio: the values are too far apart".to_owned());
    }
    // A stated spread includes the digits.
    let digits = |view: &ResultView, one: &Estimate| {
        if one.method == EstimateMethod::Stated { 0.0 } else { view.rounding }
    };
    let rounding = digits(reference, a) + digits(other, b);
    if let Some(reason) = ungrounded(a, &reference.values).or_else(|| ungrounded(b, &other.values)) {
        return Ok(CompareShift::without_interval(log, &reason));
    }
    if let Some(known) = of_samples(&reference.values, &other.values, floor, level) {
        let log = known.shift;
        let known = Some(rounded(known, rounding));
        return Ok(CompareShift { known, method: RatioMethod::Samples, ..CompareShift::of(log) });
    }
    let mut found = of_estimates(a, b, floor, level);
    found.known = found.known.map(|known| rounded(known, rounding));
    Ok(found)
}

/// Why a result supports no verdict, if so: its samples are too few, or only a min-max range is known. Statements of
/// other programs are accepted.
pub(super) fn ungrounded(estimate: &Estimate, values: &[f64]) -> Option<String> {
    let samples = if values.is_empty() { estimate.samples as usize } else { values.len() };
    let own = matches!(
        estimate.method,
        EstimateMethod::OrderStatistic | EstimateMethod::WidenedExtremes | EstimateMethod::PairedOrderStatistic
    );
    if (own || estimate.is_range()) && samples < FEWEST {
        return Some(format!("one run has only {samples} samples; a verdict needs {FEWEST}"));
    }
    (estimate.is_range() && values.is_empty()).then(|| "one run has only min–max, no interval".to_owned())
}

/// A ratio whose sides are known to their last digits only: both may be off by all of that, in opposite directions,
/// however many samples there are.
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

/// Hodges-Lehmann shift and Mann-Whitney interval of sample values; `None` if there are too few.
pub(crate) fn of_samples(a: &[f64], b: &[f64], floor: Floor, level: f64) -> Option<RatioEstimate> {
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
    let (Some(a_error), Some(b_error)) = (standard_error(a), standard_error(b)) else {
        let reason = match (a.has_spread(), b.has_spread()) {
            (false, false) => "neither result has error bars",
            (false, true) => "the baseline has no error bars",
            (true, false) => "it has no error bars",
            (true, true) => "no ratio interval: one interval includes zero",
        };
        return CompareShift::without_interval(log, reason);
    };
    let samples_at = |level: f64| normal_quantile(0.5 + level / 2.0) * a_error.hypot(b_error);
    let total_at = |level: f64| samples_at(level).hypot(floor.half_width(level));
    let total = total_at(level);
    let narrower = stats::equivalence_level(level);
    let equivalent = total_at(narrower);
    let p_value = if total > 0.0 {
        let quantile = |p: f64| floor.degrees.map_or_else(|| normal_quantile(p), |df| student_t_quantile(p, df));
        let score = -log.abs() * quantile(0.5 + level / 2.0) / total;
        2.0 * floor.degrees.map_or_else(|| normal_cdf(score), |df| student_t_cdf(score, df))
    } else {
        f64::NAN
    };
    let known = RatioEstimate {
        shift: log,
        interval: Interval::new(log - total, log + total, level),
        equivalence: Interval::new(log - equivalent, log + equivalent, narrower),
        p_value,
        floor_half_width: floor.half_width(level),
        level,
        samples: a.samples.min(b.samples) as usize,
    };
    CompareShift { known: Some(known), method: RatioMethod::Propagated, ..CompareShift::of(log) }
}

fn no_single_value(a: &Outcome, b: &Outcome, metric: &Metric) -> String {
    let say = |outcome: &Outcome, whose: &str| match outcome {
        Outcome::NotMeasured(reason) => Some(format!("not measured {whose}: {reason}")),
        Outcome::Failed(reason) => Some(format!("failed {whose}: {reason}")),
        Outcome::Below { .. } => Some(format!("below what can be resolved {whose}")),
        Outcome::Measured(_) | Outcome::Modes(_) => None,
    };
    let (first, second) = (say(a, "in the baseline"), say(b, "in this run"));
    let mut text = [first, second].into_iter().flatten().collect::<Vec<_>>().join("; ");
    if let Some(bound) = one_sided(a, b, metric) {
        text = format!("{text}; {bound}");
    }
    text
}

/// Conclusion from a bound on one side, for a result that is better if lower.
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
        // A bound of 0 is useless.
        _ if !least.is_finite() => None,
        _ if least > 1.0 => Some(format!("it is at least {}x {word}", digits(least))),
        _ => Some(format!("it may be {better} or {worse}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::simulate::{generator, standard_normal};

    #[test]
    fn fewer_than_eight_samples_or_a_range_give_a_ratio_and_no_interval() {
        let metric = Metric { unit: Unit::Seconds, per: "call".into(), better: Better::Lower };
        let of = |count: usize, centre: f64| {
            let values: Vec<f64> = (0..count).map(|at| centre * (1.0 + 1e-3 * (at * 7 % 13) as f64)).collect();
            let found = stats::sample_median_interval(&values, 0.95).or_else(|| stats::sample_median_range(&values));
            let found = found.unwrap();
            let level = found.interval.level;
            let method =
                if level < model::RANGE_BELOW { EstimateMethod::Range } else { EstimateMethod::OrderStatistic };
            let (low, high, samples) = (found.interval.low, found.interval.high, count as u32);
            let estimate = Estimate { value: found.median, low, high, level, samples, batches: 1, method };
            let outcome = std::borrow::Cow::Owned(Outcome::Measured(estimate));
            ResultView { metric: &metric, outcome, values, rounding: 0.0 }
        };
        let ratio = |a: usize, b: usize| shift(&of(a, 1.0), &of(b, 100.0), Floor::NONE, 0.95).unwrap();
        for (a, b) in [(3, 40), (40, 3), (7, 7), (2, 8)] {
            let found = ratio(a, b);
            assert!(found.known.is_none() && found.reason.unwrap().contains("a verdict needs 8"), "{a} {b}");
        }
        assert!(ratio(8, 8).known.unwrap().interval.is_outside(0.02));
        // A range without the samples behind it says nothing, however many they were.
        let mut range = ResultView { values: Vec::new(), ..of(40, 1.0) };
        if let Outcome::Measured(estimate) = range.outcome.to_mut() {
            estimate.method = EstimateMethod::Range;
        }
        assert!(shift(&range, &of(40, 100.0), Floor::NONE, 0.95).unwrap().known.is_none());
    }

    #[test]
    fn a_ratio_is_that_of_the_two_printed_values_and_lies_in_its_interval() {
        let metric = Metric { unit: Unit::Seconds, per: "call".into(), better: Better::Lower };
        let mut rng = generator(9);
        for _ in 0..500 {
            // Skewed and of unlike shape, so that the shift of ranks is not that of medians.
            let mut draw = |skew: f64| -> Vec<f64> {
                (0..12).map(|_| (skew * standard_normal(&mut rng).max(-0.3)).exp()).collect()
            };
            let (a, b) = (draw(0.5), draw(0.1));
            let view = |values: &[f64]| {
                let value = stats::median(values).unwrap();
                let method = EstimateMethod::OrderStatistic;
                let (low, high) = (value * 0.9, value * 1.1);
                let estimate = Estimate { value, low, high, level: 0.95, samples: 12, batches: 1, method };
                let outcome = std::borrow::Cow::Owned(Outcome::Measured(estimate));
                ResultView { metric: &metric, outcome, values: values.to_vec(), rounding: 0.0 }
            };
            let found = shift(&view(&a), &view(&b), Floor::NONE, 0.95).unwrap();
            let printed = (stats::median(&b).unwrap() / stats::median(&a).unwrap()).ln();
            let known = found.known.unwrap();
            assert!((found.log - printed).abs() < 1e-12 && known.shift == found.log);
            assert!(known.interval.contains(found.log) && known.equivalence.contains(found.log), "{known:?}");
        }
    }

    #[test]
    fn samples_with_few_digits_are_known_to_their_digits_only() {
        let metric = Metric { unit: Unit::Seconds, per: "run".into(), better: Better::Lower };
        let outcome = |value: f64| Estimate { level: 0.98, samples: 10, ..Estimate::without_spread(value) };
        let ratio = |a: f64, b: f64, half: f64| {
            let view = |value: f64| ResultView {
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
            method: EstimateMethod::Stated,
            ..Estimate::of_samples(value, (value * 0.98, value * 1.02), 0.95, 1)
        };
        let known = of_estimates(&stated(1.0), &stated(1.05), Floor::known(0.0), 0.95).known.unwrap();
        assert!(known.p_value < 0.01 && known.interval.low > 0.0, "{known:?}");
    }
}
