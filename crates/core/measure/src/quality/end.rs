//! Conclusions about a result at the end of a run.

use model::{BenchmarkResult, Estimate, RULES, ValueBasis};

use super::sample::{few_undisturbed, undisturbed_samples};
use super::sensitivity::sensitivity;
use crate::decide;

/// Concludes a result at the end of a run: with very few undisturbed samples its observed value, else the sensitivity
/// of its value to the thresholds.
pub(crate) fn conclude_result(result: &mut BenchmarkResult, level: f64, paired: bool) {
    let (undisturbed, contended) = undisturbed_samples(result);
    let filtered = matches!(result.basis(), ValueBasis::Cycles | ValueBasis::Undisturbed);
    if let Some(references) = result.references.as_mut().filter(|_| filtered)
        && undisturbed < RULES.quality.fewest_samples as usize
        && contended > undisturbed
    {
        references.basis = ValueBasis::Observed(few_undisturbed(undisturbed, undisturbed + contended));
        references.clock = None;
    }
    let (sensitivity, observed) = (sensitivity(result, paired), observed(result, level));
    if let Some(references) = &mut result.references {
        (references.sensitivity, references.observed) = (sensitivity, observed);
    }
}

/// The value over all batches of all raw samples.
fn observed(result: &BenchmarkResult, level: f64) -> Option<Estimate> {
    let values: Vec<f64> = result.raw_samples().iter().map(|sample| sample.value).collect();
    let batches = result.samples.first().map_or(0, |sample| sample.nanos.len());
    decide::interval_or_range(&values, level, u32::try_from(batches).unwrap_or(u32::MAX))
}
