//! Conclusions about a result at the end of a run.

use model::{BenchmarkResult, Estimate, RULES, ValueBasis};

use super::sample::{clean_samples, few_clean};
use super::sensitivity::sensitivity;
use crate::decide;

/// Concludes a result at the end of a run: with very few clean samples its raw value, else the sensitivity of its value
/// to the thresholds.
pub(crate) fn conclude_result(result: &mut BenchmarkResult, level: f64, paired: bool) {
    let (clean, shared_core) = clean_samples(result);
    let filtered = matches!(result.basis(), ValueBasis::Cycles | ValueBasis::Clean);
    if let Some(sensors) = result.sensors.as_mut().filter(|_| filtered)
        && clean < RULES.quality.fewest_samples as usize
        && shared_core > clean
    {
        sensors.basis = ValueBasis::Raw(few_clean(clean, clean + shared_core));
        sensors.clock = None;
    }
    let (sensitivity, raw) = (sensitivity(result, paired), raw(result, level));
    if let Some(sensors) = &mut result.sensors {
        (sensors.sensitivity, sensors.raw) = (sensitivity, raw);
    }
}

/// The value over all batches of all raw samples.
fn raw(result: &BenchmarkResult, level: f64) -> Option<Estimate> {
    let values: Vec<f64> = result.raw_samples().iter().map(|sample| sample.value).collect();
    let batches = result.samples.first().map_or(0, |sample| sample.nanos.len());
    decide::interval_or_range(&values, level, u32::try_from(batches).unwrap_or(u32::MAX))
}
