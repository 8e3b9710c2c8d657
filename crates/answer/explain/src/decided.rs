//! How many results of a comparison are decided, and what would decide the others.

use compare::{Comparison, NeededSamples, is_condition};
use model::{Unit, Verdict};

use super::result::Decided;
use super::stream_line::stands_for;

/// Counts the results that an explanation can use: times and rates of both runs, without streams where `lines` describe
/// those.
pub(crate) fn decided(comparison: &Comparison, lines: bool) -> Decided {
    let mut found = Decided::default();
    let is_result = |benchmark: &str, unit: Unit| {
        let left_out = is_condition(benchmark) || (lines && stands_for(benchmark));
        !left_out && (unit == Unit::Seconds || unit.is_rate())
    };
    for row in comparison.rows.iter().filter(|row| is_result(&row.benchmark, row.metric.unit)) {
        let Some(ratio) = row.ratios.iter().find(|ratio| ratio.machine != comparison.reference) else { continue };
        found.results += usize::from(ratio.verdict.is_some());
        if ratio.verdict != Some(Verdict::Inconclusive) {
            continue;
        }
        found.inconclusive += 1;
        match ratio.need {
            Some(NeededSamples::Samples(more)) => {
                found.by_samples += 1;
                found.samples = found.samples.max(more);
            }
            Some(NeededSamples::Sessions(sessions)) => {
                found.by_sessions += 1;
                found.sessions = found.sessions.max(sessions);
            }
            Some(NeededSamples::TooClose) => found.too_close += 1,
            None => {}
        }
    }
    found
}
