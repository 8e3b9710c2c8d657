//! A result of both runs for an explanation: times, not rates.

use super::facts::compilers;
use super::follows::{CORE, Follows};
use super::footprint::Uses;
use super::level::{Levels, measures};
use super::shares::moved;
use compare::{CompareRow, Comparison, Ratio, RatioBasis, RatioMethod};
use model::{BenchmarkResult, Catalogue, Class, Metric, Operation, Primitive, ResultKey, Run, Unit, Verdict};

/// Fewest user-mode results for a common factor.
pub(crate) const FEWEST: usize = 3;

/// One result of both runs, in seconds per operation.
#[derive(Clone)]
pub(crate) struct ExplainedResult {
    pub(crate) key: ResultKey,
    /// The primitive that it measures.
    pub(crate) primitive: Primitive,
    /// Every primitive that its benchmark declares.
    pub(crate) declares: Vec<Primitive>,
    /// All primitives that it stresses, by its declaration and the declared uses.
    pub(crate) touches: Vec<Primitive>,
    /// Name of one operation.
    pub(crate) per: String,
    /// Seconds of one operation.
    pub(crate) time_a: f64,
    pub(crate) time_b: f64,
    /// Logarithm of the time of B over A, and its standard deviation if known (including the session noise).
    pub(crate) log: f64,
    pub(crate) error: Option<f64>,
    /// The same logarithm of cycles, where the verdict is on those.
    pub(crate) cycles: Option<f64>,
    pub(crate) class: Class,
    pub(crate) verdict: Option<Verdict>,
    /// Units used by B's operation, or A's if B's are unknown.
    pub(crate) uses: Uses,
    /// A mixture, which defines no primitive's cost.
    pub(crate) composite: bool,
    /// Runs in user mode and near the core alone.
    pub(crate) pure_user: bool,
    /// A core result on both sides: its time follows the clock.
    pub(crate) in_cycles: bool,
    /// Only clean batches count on both sides: a neighbour on the core cannot touch it.
    pub(crate) filtered: bool,
    /// A set of parameters of a curve over block sizes.
    pub(crate) on_curve: bool,
    /// Parameters on which the two sets of parameters differ: name, A's value, B's value.
    pub(crate) parameters: Vec<(String, String, String)>,
    /// The declared counts, if they were used instead of measured ones.
    pub(crate) declared: Option<Operation>,
    /// How its time follows the common factor.
    pub(crate) follows: Follows,
    /// Whether its verdict is on cycles without a common factor, so that the residual is that of cycles. Then the
    /// logarithm of the removed part, residual and significance. Set by the residual step.
    pub(crate) at_one_clock: bool,
    pub(crate) removed: f64,
    pub(crate) residual: f64,
    pub(crate) significant: bool,
    /// Whether its residual lies within the margin. A test that is neither this nor significant is inconclusive. Set by
    /// the residual step too. A test that is neither this nor significant is inconclusive. Set by the residual step
    /// too.
    pub(crate) same: bool,
}

/// Standard deviation of the logarithm of a ratio whose samples determine no interval: one or two, or few in rising or
/// falling order. It supports no conclusion, unlike a value that is printed without a spread.
const UNDETERMINED: f64 = 10.0;

impl ExplainedResult {
    /// Excess of one operation over A's time scaled by the removed factor, seconds.
    pub(crate) fn excess(&self) -> f64 {
        self.time_b - self.time_a * self.removed.exp()
    }

    /// Whether its samples are too few to say anything of its ratio.
    pub(crate) fn is_undetermined(&self) -> bool {
        self.error.is_some_and(|error| error >= UNDETERMINED)
    }

    /// Logarithm of its own change, before the common part is removed.
    pub(crate) fn by_itself(&self) -> f64 {
        if self.at_one_clock { self.residual } else { self.log }
    }

    /// Whether to say that its change is that at one clock: the clocks differ by what can be seen in printed digits.
    pub(crate) fn is_told_at_one_clock(&self) -> bool {
        self.at_one_clock && self.removed.abs() >= 0.001
    }

    /// Interval of the excess: the relative error of the ratio, applied to B's time.
    pub(crate) fn excess_interval(&self, z: f64) -> Option<(f64, f64)> {
        let half = z * self.error?;
        let at = |sign: f64| self.time_a * ((self.log + sign * half).exp() - self.removed.exp());
        Some((at(-1.0), at(1.0)))
    }
}

/// A result that could not become a test, with the reason.
pub(crate) struct Passed {
    pub(crate) key: ResultKey,
    pub(crate) why: String,
}

/// The two runs.
pub(crate) struct Sides<'a> {
    pub(crate) a: &'a Run,
    pub(crate) b: &'a Run,
    pub(crate) catalogue: &'a Catalogue,
    /// Whether a fact indicates that two threads or processes may have been placed differently.
    pub(crate) placed_differently: bool,
}

/// Tests from the rows of a comparison of A (the reference) with B, as gains.
pub(crate) fn tests(comparison: &Comparison, sides: &Sides, z: f64) -> (Vec<ExplainedResult>, Vec<Passed>) {
    let levels = Levels::new(sides.a);
    let (mut tests, mut passed) = (Vec::new(), Vec::new());
    // Conditions of the machine are evidence, not tests.
    for row in &comparison.rows {
        let (Some(reference), Some(ratio)) =
            (row.ratio(&comparison.reference), row.ratios.iter().find(|r| r.machine != comparison.reference))
        else {
            continue;
        };
        match test(row, reference, ratio, sides, &levels, z) {
            Ok(test) => tests.push(test),
            Err(why) if ratio.outcome.is_some() && reference.outcome.is_some() => {
                passed.extend(why.map(|why| Passed { key: row.key(), why }));
            }
            Err(_) => {}
        }
    }
    add_near_core(&mut tests);
    (tests, passed)
}

/// If hardly any CPU result was measured, loads from the first-level cache and the clock read in user mode replace
/// them, since they also run at the core's speed.
fn add_near_core(tests: &mut [ExplainedResult]) {
    if tests.iter().filter(|test| test.pure_user).count() < FEWEST {
        for test in tests.iter_mut().filter(|test| test.parameters.is_empty() && !test.is_undetermined()) {
            test.pure_user |= matches!(test.primitive, Primitive::L1 | Primitive::Clock);
        }
    }
}

fn test(
    row: &CompareRow,
    reference: &Ratio,
    ratio: &Ratio,
    sides: &Sides,
    levels: &Levels,
    z: f64,
) -> Result<ExplainedResult, Option<String>> {
    let result_of = |run: &Run, ratio: &Ratio| {
        let key =
            ResultKey::new(row.benchmark.clone(), ratio.parameters.clone().unwrap_or_else(|| row.parameters.clone()));
        run.result(&key).cloned()
    };
    let (Some(a), Some(b)) = (result_of(sides.a, reference), result_of(sides.b, ratio)) else { return Err(None) };
    let declared = sides.catalogue.get(&row.benchmark).and_then(|benchmark| benchmark.operation.as_ref());
    let operations = declared.map_or(1.0, |operation| operation.count(&row.parameters));
    let mut times = times((reference, ratio), &a, &b, sides.placed_differently, z)?;
    let samples = || is_launched(sides.a, &a) && is_launched(sides.b, &b);
    let few = || too_few(sides.a, &a) || too_few(sides.b, &b);
    if times.error.is_none() && (ratio.method != RatioMethod::None || few() || samples()) {
        times.error = Some(UNDETERMINED);
    }
    let Some(primitive) = measures(&a, levels, sides.catalogue) else {
        return Err(Some("its benchmark declares no primitive".to_owned()));
    };
    let uses = Uses::of(if b.footprint.operations > 0 { &b } else { &a }, declared);
    let mut touches: Vec<Primitive> = declared.map(|operation| operation.touches.to_vec()).unwrap_or_default();
    touches.extend(&a.stresses);
    touches.extend(uses.counts.iter().filter(|(_, count)| *count > 0.0).map(|(p, _)| *p));
    touches.push(primitive);
    Ok(ExplainedResult {
        key: row.key(),
        primitive,
        declares: a.stresses.clone(),
        touches,
        per: declared.map_or_else(|| one_of(&a.metric), |operation| operation.name.to_string()),
        time_a: times.a / operations,
        time_b: times.b / operations,
        log: times.log,
        error: times.error,
        cycles: times.cycles,
        class: a.class,
        verdict: times.verdict,
        composite: (declared.is_some_and(Operation::is_mixture) || a.class == Class::Application)
            && compilers(&a, &b).is_none(),
        pure_user: pure_user(&a, declared) && times.error.is_none_or(|error| error < UNDETERMINED),
        in_cycles: ratio.core.is_some(),
        filtered: matches!(ratio.basis, RatioBasis::Cycles | RatioBasis::ClockTime | RatioBasis::Clean),
        on_curve: levels.on_curve(&a),
        parameters: parameters(&a, &b),
        follows: Follows::of(&a, &b, primitive),
        at_one_clock: false,
        removed: 0.0,
        declared: declared.filter(|_| !uses.measured).cloned(),
        uses,
        residual: 0.0,
        significant: false,
        same: false,
    })
}

/// Whether a result of this program has samples that are too few for an interval, where one that others printed has
/// none.
fn too_few(run: &Run, result: &BenchmarkResult) -> bool {
    is_launched(run, result) && result.outcome.estimate().is_some_and(|estimate| !estimate.has_spread())
}

/// Whether this program measured a result: its ratio to another such result has an interval, if anything determines
/// one.
fn is_launched(run: &Run, result: &BenchmarkResult) -> bool {
    run.origin.is_none() && !result.samples.is_empty()
}

/// Times of the two results.
struct ResultTimes {
    a: f64,
    b: f64,
    log: f64,
    error: Option<f64>,
    cycles: Option<f64>,
    verdict: Option<Verdict>,
}

/// From the ratio, if there is a single one; for results in modes from the expected times, if they count. Otherwise, as
/// an error, the reason why a differing result is skipped.
fn times(
    (reference, ratio): (&Ratio, &Ratio),
    a: &BenchmarkResult,
    b: &BenchmarkResult,
    placed_differently: bool,
    z: f64,
) -> Result<ResultTimes, Option<String>> {
    let time = |result: &BenchmarkResult, value: f64| seconds(&result.metric, value).ok_or(None);
    // Times at the clocks that the runs showed: the common factor takes the clock out again.
    if let (Some(core), Some(x), Some(y)) = (&ratio.core, a.outcome.estimate(), b.outcome.estimate()) {
        let error = core.cycles.low.zip(core.cycles.high).map(|(low, high)| (high / low).ln() / (2.0 * z));
        let cycles = (ratio.basis == RatioBasis::Cycles).then(|| -core.cycles.value.ln());
        let (a, b) = (time(a, x.value)?, time(b, y.value)?);
        return Ok(ResultTimes { a, b, log: -core.time.value.ln(), error, cycles, verdict: ratio.verdict });
    }
    let printed = |ratio: &Ratio| ratio.outcome.as_ref().and_then(|outcome| outcome.estimate().copied());
    if let (Some(gain), Some(x), Some(y)) = (ratio.value, printed(reference), printed(ratio)) {
        let error = ratio.low.zip(ratio.high).map(|(low, high)| (high / low).ln() / (2.0 * z));
        let (a, b) = (time(a, x.value)?, time(b, y.value)?);
        return Ok(ResultTimes { a, b, log: -gain.ln(), error, cycles: None, verdict: ratio.verdict });
    }
    if let Some((x, y, error)) = moved(a, b).filter(|_| placed_differently) {
        let (a, b) = (time(a, x)?, time(b, y)?);
        return Ok(ResultTimes {
            a,
            b,
            log: (b / a).ln(),
            error: Some(error),
            cycles: None,
            verdict: Some(Verdict::Different(None)),
        });
    }
    Err(ratio.differs().then(|| ratio.reason.clone().unwrap_or_else(|| "it has no single value".to_owned())))
}

/// Seconds of one unit of a result; `None` for results that are not a speed.
fn seconds(metric: &Metric, value: f64) -> Option<f64> {
    let seconds = match metric.unit {
        Unit::Seconds => value,
        Unit::BytesPerSecond | Unit::PerSecond => 1.0 / value,
        Unit::Hertz | Unit::Bytes | Unit::Count | Unit::Ratio | Unit::Watts | Unit::Joules => return None,
    };
    (seconds.is_finite() && seconds > 0.0).then_some(seconds)
}

/// Name of one unit of a result.
fn one_of(metric: &Metric) -> String {
    match metric.unit {
        Unit::BytesPerSecond => "byte".to_owned(),
        Unit::PerSecond => metric.per.strip_suffix('s').unwrap_or(&metric.per).to_owned(),
        _ => metric.per.to_string(),
    }
}

/// Least share of CPU time in user mode.
const USER: f64 = 0.95;

/// By the benchmark's declaration and by the measured footprint, if there is one. Applications and mixtures are never
/// pure.
fn pure_user(result: &BenchmarkResult, declared: Option<&Operation>) -> bool {
    let core = result.stresses.first().is_some_and(|primitive| CORE.contains(primitive));
    if !core || result.class == Class::Application || declared.is_some_and(Operation::is_mixture) {
        return false;
    }
    match (result.footprint.user_seconds, result.footprint.system_seconds) {
        (Some(user), Some(system)) if user + system > 0.0 => user / (user + system) >= USER,
        _ => true,
    }
}

/// Parameters on which the sets of parameters differ, and the variant of the kernel if it differs at equal parameters.
/// Only variants of code count: the ranges of a surveyed level differ in each run.
fn parameters(a: &BenchmarkResult, b: &BenchmarkResult) -> Vec<(String, String, String)> {
    let mut parameters: Vec<(String, String, String)> = compare::differing_parameters(&a.parameters, &b.parameters)
        .into_iter()
        .map(|parameter| {
            let value = |result: &BenchmarkResult| result.parameters.get(&parameter).unwrap_or("none").to_owned();
            (parameter.clone(), value(a), value(b))
        })
        .collect();
    if let (true, Some(x), Some(y)) = (parameters.is_empty(), &a.variant, &b.variant)
        && x != y
        && a.surveyed_levels().is_none()
    {
        parameters.push(("variant".to_owned(), x.clone(), y.clone()));
    }
    parameters
}

#[cfg(test)]
mod tests {
    use model::{Metric, Parameters, ResultKey, Unit};

    use super::*;

    #[test]
    fn other_code_is_a_reason_and_another_survey_is_none() {
        let result = |variant: &str| BenchmarkResult {
            variant: Some(variant.to_owned()),
            ..BenchmarkResult::unmeasured(
                ResultKey::new("memory.hierarchy_latency", Parameters::none()),
                "level latency",
                Metric::lower(Unit::Seconds, "load"),
                Class::MemoryLatency,
            )
        };
        let between = |a: &str, b: &str| parameters(&result(a), &result(b)).len();
        assert_eq!(between("avx512_normal_x1", "avx512_streaming_x1"), 1);
        assert_eq!(between("avx512_normal_x1", "avx512_normal_x1"), 0);
        let surveyed = ["level over 4KiB-40KiB, 32MiB-256MiB", "level over 4KiB-36KiB, 64MiB-256MiB"];
        assert_eq!(between(&format!("{} on huge pages", surveyed[0]), &format!("{} on huge pages", surveyed[1])), 0);
    }
}
