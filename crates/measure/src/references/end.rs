//! Conclusions about a figure at the end of a run.

use model::{Estimate, EstimateMethod, Figure, ValueBasis};
use stats::order_statistic::{launch_median_interval, launch_median_range};

use super::sensitivity::sensitivity;
use super::weigh::{few_undisturbed, undisturbed_launches};

/// Undisturbed launches below which a run that ends prints the observed value.
const FEWEST_LAUNCHES: usize = 6;

/// Concludes a figure at the end of a run: with very few undisturbed launches its observed value, else the sensitivity
/// of its value to the thresholds.
pub(crate) fn conclude_figure(figure: &mut Figure, level: f64) {
    let (undisturbed, contended) = undisturbed_launches(figure);
    let filtered = matches!(figure.basis(), ValueBasis::Cycles | ValueBasis::Undisturbed);
    if let Some(references) = figure.references.as_mut().filter(|_| filtered)
        && undisturbed < FEWEST_LAUNCHES
        && contended > undisturbed
    {
        references.basis = ValueBasis::Observed(few_undisturbed(undisturbed, undisturbed + contended));
        references.clock = None;
    }
    let (sensitivity, observed) = (sensitivity(figure), observed(figure, level));
    if let Some(references) = &mut figure.references {
        (references.sensitivity, references.observed) = (sensitivity, observed);
    }
}

/// The value over all batches of all raw launches.
fn observed(figure: &Figure, level: f64) -> Option<Estimate> {
    let values: Vec<f64> = figure.raw_launches().iter().map(|launch| launch.value).collect();
    let found = launch_median_interval(&values, level).or_else(|| launch_median_range(&values))?;
    let is_range = found.interval.level < model::RANGE_BELOW;
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Some(Estimate {
        value: found.median,
        low: found.interval.low,
        high: found.interval.high,
        level: found.interval.level,
        launches: count(values.len()),
        batches: count(figure.launches.first().map_or(0, |launch| launch.nanos.len())),
        method: if is_range { EstimateMethod::Range } else { EstimateMethod::OrderStatistic },
    })
}
