//! Results without a change although the printed interval goes beyond the margin: two one-sided tests at 5% decide,
//! which is the interval at 90%, and the printed one is wider.

use compare::{CompareRow, Comparison, ModeRatio, Ratio, RatioBasis};
use model::{Verdict, percent};

use crate::Block;
use crate::words::plural;

/// The line below a table that prints the ratios of `others`, if it has such a result. `modes` tells whether it prints
/// the ratios of modes too.
pub(crate) fn line(comparison: &Comparison, others: &[usize], modes: bool) -> Option<Block> {
    let beyond = |row: &&CompareRow| {
        let mut ratios = others.iter().filter_map(|other| row.ratios.get(*other));
        ratios.any(|ratio| is_beyond(comparison, ratio, modes))
    };
    let results = comparison.rows.iter().filter(beyond).count();
    (results > 0).then(|| {
        Block::Text(format!(
            "No change is judged at {}: the {} interval of {} exceeds the margin.",
            percent(stats::equivalence_level(comparison.level)),
            percent(comparison.level),
            plural(results, "result")
        ))
    })
}

fn is_beyond(comparison: &Comparison, ratio: &Ratio, modes: bool) -> bool {
    // What is judged in cycles is the same by its cycles, which the table prints beside it.
    let ends = ratio.low.zip(ratio.high).filter(|_| ratio.basis != RatioBasis::Cycles);
    let is_same = |verdict: Option<Verdict>| verdict == Some(Verdict::NoChange);
    let mode = |mode: &ModeRatio| is_same(mode.verdict) && reaches(mode.low.zip(mode.high), comparison.band);
    is_same(ratio.verdict) && reaches(ends, comparison.band) || modes && ratio.modes.iter().any(mode)
}

/// Whether an interval of a ratio has an end that the band, half of whose width is a logarithm, does not hold.
fn reaches(ends: Option<(f64, f64)>, band: f64) -> bool {
    ends.is_some_and(|(low, high)| low.ln() <= -band || high.ln() >= band)
}
