//! Flags on the samples of a result, whatever their values.

use model::{BenchmarkResult, Flag, RULES, TakenTime};

use crate::decide::Classified;

/// The flags that the samples of a result support.
pub(crate) fn flags(result: &BenchmarkResult, samples: &[Classified<'_>]) -> Vec<Flag> {
    let much = |taken: TakenTime| taken.share().is_some_and(|share| share.get() > RULES.quality.taken_flag);
    let unsteady = samples.iter().filter(|sample| !sample.sample.steady).count();
    let found = [
        (Flag::Repeated, result.samples.iter().any(|sample| sample.invalid.is_some())),
        (Flag::Steal, much(result.stolen())),
        (Flag::Throttled, much(result.throttled())),
        (Flag::NoSteadyState, 2 * unsteady > samples.len()),
        (Flag::Noisy, disturbed_share(samples) > RULES.quality.noisy_share),
        (Flag::SharedCore, result.is_shared_core()),
    ];
    found.into_iter().filter(|(_, found)| *found).map(|(flag, _)| flag).collect()
}

/// Share of batches, of those on which the value is based, that took far longer than the others of their sample.
fn disturbed_share(samples: &[Classified<'_>]) -> f64 {
    let (mut disturbed, mut all) = (0_usize, 0_usize);
    for side in samples.iter().flat_map(|sample| &sample.kept_nanos) {
        let Some(median) = stats::median(side) else { continue };
        disturbed += side.iter().filter(|nanos| **nanos > RULES.quality.disturbed_batch * median).count();
        all += side.len();
    }
    if all == 0 { 0.0 } else { disturbed as f64 / all as f64 }
}
