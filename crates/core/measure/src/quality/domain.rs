//! Domain of a result: declared, and verified by its samples.

use model::{BenchmarkResult, Better, Domain, RULES};

/// The domain of a result and the slope that supports it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FollowedDomain {
    pub(crate) domain: Domain,
    pub(crate) slope: Option<(f64, f64)>,
}

/// The declared domain, unless the samples contradict it.
pub(crate) fn follows(result: &BenchmarkResult) -> FollowedDomain {
    let declared = result.sensors.as_ref().map_or(Domain::Mixed, |sensors| sensors.domain);
    let Some((slope, low, high)) = slope(result) else {
        return FollowedDomain { domain: declared, slope: None };
    };
    // A result that slows down more than the clock is still a core result: the cause also slowed the clock, and times
    // would vary even more. Only a result that does not follow the clock is something else.
    let tolerance = RULES.quality.slope_tolerance;
    let contradicts = match declared {
        Domain::Core => high < 1.0 - tolerance,
        _ => high < -tolerance || low > tolerance,
    };
    let domain = if contradicts { Domain::Mixed } else { declared };
    FollowedDomain { domain, slope: Some((slope, (high - low) / 2.0)) }
}

/// Relative decrease of the time per relative increase of the clock over clean samples, and its 95% interval.
fn slope(result: &BenchmarkResult) -> Option<(f64, f64, f64)> {
    let samples = result.samples.iter().filter(|sample| sample.invalid.is_none());
    let points = samples.filter_map(|sample| {
        let found = sample.clean?;
        Some((found.clock?.ln(), found.value.filter(|value| *value > 0.0)?.ln()))
    });
    let (clocks, times): (Vec<f64>, Vec<f64>) = points.unzip();
    let range = stats::quantile::quantile(&clocks, 0.9)? - stats::quantile::quantile(&clocks, 0.1)?;
    if clocks.len() < RULES.quality.slope_samples as usize || range < RULES.quality.slope_range {
        return None;
    }
    let line = stats::theil_sen::theil_sen(&clocks, &times, 0.95)?;
    let sign = if result.metric.better == Better::Higher && result.metric.unit.is_rate() { 1.0 } else { -1.0 };
    let ends = [sign * line.slope_interval.low, sign * line.slope_interval.high];
    Some((sign * line.slope, ends[0].min(ends[1]), ends[0].max(ends[1])))
}

#[cfg(test)]
mod tests {
    use model::{Class, CleanBatches, Metric, Parameters, ResultKey, ResultSensors, Sample, Unit};

    use super::*;

    /// Samples at clocks between 3 and 3 GHz plus `range`, whose values depend on the clock by `slope`.
    fn result(metric: Metric, declared: Domain, slope: f64, range: f64) -> BenchmarkResult {
        let sign = if metric.unit.is_rate() { 1.0 } else { -1.0 };
        let sample = |at: u32| {
            let clock = 3e9 * (1.0 + range * f64::from(at % 7) / 6.0);
            let noise = 1.0 + 1e-4 * f64::from(at * 7 % 11);
            let value = Some(1e-6 * (clock / 3e9).powf(sign * slope) * noise);
            let clean = CleanBatches { batches: 20, of: 20, value, cycles: None, clock: Some(clock) };
            Sample { clean: Some(clean), ..Sample::default() }
        };
        let sensors = ResultSensors { domain: declared, ..ResultSensors::default() };
        let result =
            BenchmarkResult::unmeasured(ResultKey::new("a.b", Parameters::none()), "a", metric, Class::Compute);
        BenchmarkResult { samples: (0..14).map(sample).collect(), sensors: Some(sensors), ..result }
    }

    #[test]
    fn samples_contradict_a_declaration_only_where_the_clock_moved() {
        let time = || Metric::lower(Unit::Seconds, "call");
        let rate = || Metric::higher(Unit::BytesPerSecond, "bytes");
        for metric in [time, rate] {
            let of = |declared, slope, range| follows(&result(metric(), declared, slope, range));
            assert_eq!(of(Domain::Core, 1.0, 0.1).domain, Domain::Core);
            assert_eq!(of(Domain::Core, 0.5, 0.1).domain, Domain::Mixed);
            assert_eq!(of(Domain::Core, 1.6, 0.1).domain, Domain::Core, "slow where the clock is, and more");
            assert_eq!(of(Domain::Core, 0.5, 0.01), FollowedDomain { domain: Domain::Core, slope: None });
            assert_eq!(of(Domain::Memory, 0.05, 0.1).domain, Domain::Memory);
            assert_eq!(of(Domain::Memory, 1.0, 0.1).domain, Domain::Mixed);
            let (slope, half) = of(Domain::Core, 0.9, 0.1).slope.unwrap_or_default();
            assert!((slope - 0.9).abs() < 0.02 && half < 0.1, "{slope} {half}");
        }
    }
}
