//! The clock and the contention over a whole run, from readings at known times: two results of every run.

use model::{
    BenchmarkResult, Class, Estimate, EstimateMethod, Metric, Outcome, Parameters, Primitive, RULES, ResultKey, Run,
    Sample, SensorMoment, SessionSensors, Share, Unit,
};
use stats::order_statistic::{sample_median_interval, sample_median_range};

/// The clock below which half of the time was spent.
fn weighted_median(moments: &[SensorMoment]) -> Option<f64> {
    let mut sorted: Vec<&SensorMoment> = moments.iter().collect();
    sorted.sort_by(|one, other| one.clock.total_cmp(&other.clock));
    let half = moments.iter().map(|moment| moment.seconds).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    sorted
        .iter()
        .find(|moment| {
            sum += moment.seconds;
            sum >= half
        })
        .map(|moment| moment.clock)
}

/// Share of the time in which another thread was on the core, of that whose state is known.
pub(crate) fn shared_share(moments: &[SensorMoment]) -> Option<Share> {
    let known = || moments.iter().filter(|moment| moment.shared.is_some());
    let shared = known().filter(|moment| moment.shared == Some(true)).map(|moment| moment.seconds).sum();
    Share::of(shared, known().map(|moment| moment.seconds).sum())
}

/// Median clock of the session up to now, over time, hertz.
pub(crate) fn median_clock(sensors: &SessionSensors, now: f64) -> Option<f64> {
    weighted_median(&sensors.moments(now))
}

/// Stores the run's own results: its median clock, the share of time in which its core was shared, and the results
/// `cpu.clock` and `cpu.core_shared` after those of the plan.
pub(crate) fn conclude(run: &mut Run, end: f64) {
    let Some(sensors) = &mut run.session.sensors else { return };
    let moments = sensors.moments(end);
    sensors.clock = weighted_median(&moments);
    sensors.core_shared = shared_share(&moments);
    let parts = parts(&moments);
    let clocks = parts.iter().filter_map(|part| Some((part, weighted_median(part)?)));
    let clock_parts: Vec<Sample> = clocks.map(|(part, clock)| sample(part, clock)).collect();
    let shares = parts.iter().filter_map(|part| Some((part, shared_share(part)?.get())));
    let shared_parts: Vec<Sample> = shares.map(|(part, share)| sample(part, share)).collect();
    let clock = clock_result(sensors.clock, clock_parts, moments.len());
    let shared = shared_result(sensors.core_shared, shared_parts, moments.len());
    for result in [clock, shared].into_iter().flatten() {
        let key = result.key();
        run.results.retain(|known| known.key() != key);
        run.results.push(result);
    }
}

/// Parts of equal time.
fn parts(moments: &[SensorMoment]) -> Vec<Vec<SensorMoment>> {
    let count = (moments.len() / RULES.quality.part_readings as usize).clamp(1, RULES.quality.parts as usize);
    let all: f64 = moments.iter().map(|moment| moment.seconds).sum();
    let mut parts = vec![Vec::new(); count];
    let mut sum = 0.0;
    for moment in moments {
        let middle = sum + moment.seconds / 2.0;
        let part = (middle / all.max(f64::MIN_POSITIVE) * count as f64) as usize;
        parts[part.min(count - 1)].push(*moment);
        sum += moment.seconds;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// A part of the run as a sample of its result, for comparing runs.
fn sample(part: &[SensorMoment], value: f64) -> Sample {
    let began = part.first().map_or(0.0, |first| first.began);
    let wall = part.iter().map(|moment| moment.seconds).sum();
    Sample { began, wall, value, steady: true, ..Sample::default() }
}

fn result(benchmark: &str, title: &str, metric: Metric, samples: Vec<Sample>, estimate: Estimate) -> BenchmarkResult {
    let key = ResultKey::new(benchmark, Parameters::none());
    let samples = (0..).zip(samples).map(|(round, sample)| Sample { round, ..sample }).collect();
    let unmeasured = BenchmarkResult::unmeasured(key, title, metric, Class::Compute).stressing(&[Primitive::CoreClock]);
    BenchmarkResult { outcome: Outcome::Measured(estimate), flags: Vec::new(), samples, ..unmeasured }
}

fn clock_result(clock: Option<f64>, parts: Vec<Sample>, readings: usize) -> Option<BenchmarkResult> {
    let values: Vec<f64> = parts.iter().map(|part| part.value).collect();
    let found = sample_median_interval(&values, 0.95).or_else(|| sample_median_range(&values))?;
    let value = clock?;
    let batches = u32::try_from(readings / values.len().max(1)).unwrap_or(u32::MAX);
    let known = found.estimate(values.len(), batches, EstimateMethod::OrderStatistic.at(found.interval.level));
    let estimate = Estimate { value, low: known.low.min(value), high: known.high.max(value), ..known };
    let metric = Metric::higher(Unit::Hertz, "cycles");
    Some(result(model::CLOCK, "CPU clock during the run", metric, parts, estimate))
}

/// The interval of the share is that of a mean over autocorrelated parts.
fn shared_result(share: Option<Share>, parts: Vec<Sample>, readings: usize) -> Option<BenchmarkResult> {
    let values: Vec<f64> = parts.iter().map(|part| part.value).collect();
    let (share, count) = (share?.get(), values.len() as f64);
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let inflation = stats::autocorrelation::variance_inflation(&values);
    let half = 2.1 * (variance * inflation / count.max(1.0)).sqrt();
    let known = values.len() >= 10;
    let estimate = Estimate {
        value: share,
        low: if known { (share - half).max(0.0) } else { values.iter().copied().fold(share, f64::min) },
        high: if known { (share + half).min(1.0) } else { values.iter().copied().fold(share, f64::max) },
        level: if known { 0.95 } else { 0.0 },
        samples: u32::try_from(values.len()).unwrap_or(u32::MAX),
        batches: u32::try_from(readings / values.len().max(1)).unwrap_or(u32::MAX),
        method: if known { EstimateMethod::Propagated } else { EstimateMethod::Range },
    };
    let metric = Metric::lower(Unit::Ratio, "time");
    Some(result(model::CORE_SHARED, "time the sibling hyperthread was busy", metric, parts, estimate))
}

#[cfg(test)]
mod tests {
    use model::{ExclusiveCore, ExclusiveSource, SensorLengths, SensorSamples, SmallSteps};

    use super::*;

    /// Readings at given times (seconds), with given clocks (GHz), shared or not.
    fn session(rows: &[(f64, f64, bool)]) -> SessionSensors {
        let lengths = SensorLengths { clock: 36_000, contention: 180_000, issue: 0 };
        let column =
            |of: &dyn Fn(&(f64, f64, bool)) -> f64| SmallSteps(rows.iter().map(|row| of(row) as u32).collect());
        let nanos = |row: &(f64, f64, bool)| 36_000.0 / row.1;
        let samples = SensorSamples {
            millis: column(&|row| row.0 * 1e3),
            cpu: column(&|_| 1.0),
            clock: column(&nanos),
            contention: column(&|row| nanos(row) * if row.2 { 1.8 } else { 1.25 }),
            issue: SmallSteps::default(),
        };
        let core = ExclusiveCore {
            cpus: vec![0, 1],
            ratio: Some(0.25),
            source: ExclusiveSource::LowerMode,
            ..ExclusiveCore::default()
        };
        SessionSensors { lengths, exclusive: vec![core], samples, ..SessionSensors::default() }
    }

    #[test]
    fn readings_are_weighted_by_the_time_that_they_stand_for() {
        // One reading for a second at 2 GHz, shared; many within a tenth of a second at 3 GHz, not shared.
        let mut rows = vec![(0.0, 2.0, true)];
        rows.extend((0..10).map(|at| (1.0 + 0.01 * f64::from(at), 3.0, false)));
        let session = session(&rows);
        let moments = session.moments(1.1);
        assert!((weighted_median(&moments).unwrap() * 1e-9 - 2.0).abs() < 0.01);
        assert!((shared_share(&moments).unwrap().get() - 1.0 / 1.1).abs() < 0.01);
        assert_eq!(median_clock(&SessionSensors::default(), 1.0), None);
    }

    #[test]
    fn a_row_of_readings_shares_its_stretch() {
        let session = session(&[(0.0, 2.0, true), (0.0, 3.0, false), (0.0, 3.0, false), (1.0, 3.0, false)]);
        let shared = shared_share(&session.moments(2.0)).unwrap().get();
        assert!((shared - 1.0 / 6.0).abs() < 1e-9, "{shared}");
    }

    #[test]
    fn a_run_gets_two_results_with_intervals_and_only_once() {
        let rows: Vec<_> =
            (0..400).map(|at| (0.1 * f64::from(at), 3.0 + 0.1 * f64::from(at % 3), at % 4 == 0)).collect();
        let mut run: Run = serde_json::from_str(
            r#"{"schema":1,"id":"r","machine":{"name":"m"},"session":{"started":"2026-11-21T00:00:00Z"},
            "plan":{"suite":"quick","seed":1,"level":0.95,"target":0.02,"checkpoints":[10],"batches":20,"batch_nanos":1000000,"band":0.02,"entries":[]},"results":[]}"#,
        )
        .unwrap();
        run.session.sensors = Some(session(&rows));
        conclude(&mut run, 40.0);
        conclude(&mut run, 40.0);
        let found: Vec<_> =
            run.results.iter().map(|result| (result.benchmark.as_str(), result.outcome.estimate().unwrap())).collect();
        let [("cpu.clock", clock), ("cpu.core_shared", shared)] = found[..] else { panic!("{found:?}") };
        assert!((clock.value * 1e-9 - 3.1).abs() < 0.01 && clock.level >= 0.95, "{clock:?}");
        assert!((shared.value - 0.25).abs() < 0.01 && shared.low > 0.15 && shared.high < 0.35, "{shared:?}");
        assert_eq!(run.results[0].values().len(), RULES.quality.parts as usize);
    }
}
