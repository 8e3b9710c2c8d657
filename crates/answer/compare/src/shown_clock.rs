//! The clock of a run, and its uncertainty.
//!
//! A core result is kept in cycles. Its time is that at the clock of its run, which is itself measured: between
//! machines the error of both clocks is part of every interval of time.

use model::{BenchmarkResult, CLOCK, CORE_SHARED, Estimate, EstimateMethod, RULES, Run, ValueBasis};
use serde::{Deserialize, Serialize};
use stats::distribution::normal_quantile;

/// Standard deviation with which a clock is read.
pub(crate) const RESOLUTION: f64 = RULES.compare.clock_error;

/// Level of the interval of a clock where no result states one.
const LEVEL: f64 = 0.95;

/// Whether a result describes the machine's conditions during a run instead of its speed. Its sessions are not draws of
/// one quantity, and it is in no mean.
#[must_use]
pub fn is_condition(benchmark: &str) -> bool {
    matches!(benchmark, CLOCK | CORE_SHARED)
}

/// The median clock over the time of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShownClock {
    /// The clock, hertz.
    pub hertz: f64,
    /// Lower end of its interval, hertz.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Confidence of the interval.
    pub level: f64,
}

impl ShownClock {
    /// The clock from a run's sensors; `None` without them. The clock at which its results are printed does not matter.
    #[must_use]
    pub fn of(run: &Run) -> Option<Self> {
        let sensors = run.session.sensors.as_ref()?;
        let sound = |hertz: &f64| *hertz > 1e6 && hertz.is_finite();
        let stated =
            run.results.iter().find(|result| result.benchmark == CLOCK).and_then(|result| result.outcome.estimate());
        let stated =
            stated.filter(|estimate| sound(&estimate.value) && estimate.low > 0.0 && estimate.high.is_finite());
        let samples = sample_clocks(run);
        let hertz = sensors.clock.or_else(|| Some(stated?.value)).or_else(|| stats::median(&samples)).filter(sound)?;
        let (low, high, level) = match stated.filter(|estimate| estimate.has_spread() && !estimate.is_range()) {
            Some(estimate) => (estimate.low / estimate.value, estimate.high / estimate.value, estimate.level),
            None => match stats::serial_median_interval(&samples, LEVEL) {
                Some(found) if found.interval.level >= model::RANGE_BELOW => {
                    let median = stats::median(&samples)?;
                    (found.interval.low / median, found.interval.high / median, found.interval.level)
                }
                _ => (1.0 - RULES.compare.unstated_clock, 1.0 + RULES.compare.unstated_clock, LEVEL),
            },
        };
        Some(Self { hertz, low: hertz * low.min(1.0), high: hertz * high.max(1.0), level })
    }

    /// It as an estimate, with the sample count that the run states.
    #[must_use]
    pub(crate) fn estimate(&self, stated: &Estimate) -> Estimate {
        let (value, low, high, level) = (self.hertz, self.low, self.high, self.level);
        Estimate { value, low, high, level, method: EstimateMethod::OrderStatistic, ..*stated }
    }

    /// Standard deviation of the logarithm, from the interval.
    #[must_use]
    pub fn error(&self) -> f64 {
        let stated = (self.high / self.low).ln() / (2.0 * normal_quantile(0.5 + self.level.min(0.999) / 2.0));
        stated.max(RESOLUTION)
    }
}

/// The estimate of a result as a time. A core result is stored in cycles, whose interval lacks the error of the clock,
/// so that error is added in quadrature.
#[must_use]
pub fn estimate_in_time(run: &Run, result: &BenchmarkResult) -> Option<Estimate> {
    let estimate = *result.outcome.estimate()?;
    let in_cycles = *result.basis() == ValueBasis::Cycles && estimate.has_spread() && estimate.low > 0.0;
    let Some(clock) = ShownClock::of(run).filter(|_| in_cycles) else { return Some(estimate) };
    let of_clock = clock.error() * normal_quantile(0.5 + estimate.level.min(0.999) / 2.0);
    let wider = |end: f64| {
        let distance = (end / estimate.value).ln();
        estimate.value * distance.hypot(of_clock).copysign(distance).exp()
    };
    Some(Estimate { low: wider(estimate.low).min(estimate.value), high: wider(estimate.high), ..estimate })
}

/// Clocks of the clean batches of a run's samples, in time order.
fn sample_clocks(run: &Run) -> Vec<f64> {
    let samples = run.results.iter().flat_map(BenchmarkResult::counted);
    let mut clocks: Vec<(f64, f64)> = samples
        .filter_map(|sample| Some((sample.began, sample.clean?.clock?)))
        .filter(|(_, hertz)| *hertz > 1e6 && hertz.is_finite())
        .collect();
    clocks.sort_by(|a, b| a.0.total_cmp(&b.0));
    clocks.into_iter().map(|(_, hertz)| hertz).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
    use model::{Class, Metric, Outcome, Parameters, ResultKey, ResultSensors, SessionSensors, Unit};

    use super::*;

    fn estimate(value: f64, half: f64) -> Estimate {
        let (low, high) = (value * (-half).exp(), value * half.exp());
        Estimate { value, low, high, level: 0.95, samples: 20, batches: 20, method: EstimateMethod::OrderStatistic }
    }

    fn result(benchmark: &str, unit: Unit, found: Estimate, basis: ValueBasis) -> BenchmarkResult {
        let key = ResultKey::new(benchmark, Parameters::none());
        let result = BenchmarkResult::unmeasured(key, benchmark, Metric::lower(unit, "call"), Class::Compute);
        let sensors = Some(ResultSensors { basis, ..ResultSensors::default() });
        BenchmarkResult { outcome: Outcome::Measured(found), sensors, ..result }
    }

    #[test]
    fn the_error_of_the_clock_is_part_of_a_time_and_not_added_twice() {
        let mut run: Run = serde_json::from_str(
            r#"{"schema":1,"id":"r","machine":{"name":"m"},"session":{"started":"2026-11-21T00:00:00Z"},
            "plan":{"suite":"quick","seed":1,"level":0.95,"target":0.02,"checkpoints":[10],"batches":20,"batch_nanos":1000000,"band":0.02,"entries":[]},"results":[]}"#,
        )
        .unwrap();
        let core = result("os.syscall_getppid", Unit::Seconds, estimate(1e-7, 0.003), ValueBasis::Cycles);
        assert_eq!(estimate_in_time(&run, &core), core.outcome.estimate().copied(), "no clock is known");
        run.session.sensors = Some(SessionSensors { clock: Some(3e9), ..SessionSensors::default() });
        run.results.push(result(CLOCK, Unit::Hertz, estimate(3e9, 0.004), ValueBasis::All));
        let wide = estimate_in_time(&run, &core).unwrap();
        assert!(((wide.high / wide.value).ln() - 0.005).abs() < 1e-4, "3 and 4 in quadrature: {wide:?}");
        assert!(((wide.value / wide.low).ln() - 0.005).abs() < 1e-4);
        let other = result("memory.read", Unit::Seconds, estimate(1e-7, 0.003), ValueBasis::Clean);
        assert_eq!(estimate_in_time(&run, &other), other.outcome.estimate().copied(), "it is a time already");
    }
}
