//! Assumed spreads of printed values, with both their parts.

use compare::{AssumedSpread, Comparison};
use model::{Verdict, percent};

use super::brief::PROBABLE;
use super::rows;
use crate::words::{capital, plural};
use crate::{Block, DocumentSection};

/// Results with one session floor.
struct AssumedGroup {
    floor: f64,
    rounding: f64,
    results: Vec<String>,
}

/// One line for each run-to-run variation: the variation, the precision of printed digits, and the results that differ
/// by more than both.
pub(crate) fn section(comparison: &Comparison, others: &[usize]) -> Option<DocumentSection> {
    let mut groups: Vec<AssumedGroup> = Vec::new();
    for row in &comparison.rows {
        let ratios = others.iter().filter_map(|other| row.ratios.get(*other));
        let assumed: Vec<&AssumedSpread> = ratios
            .filter(|ratio| matches!(ratio.verdict, Some(Verdict::Probable(_))))
            .filter_map(|ratio| ratio.assumed.as_ref())
            .collect();
        let Some(floor) = assumed.first().map(|assumed| assumed.floor) else { continue };
        let digits = assumed.iter().flat_map(|assumed| [assumed.reference_rounding, assumed.rounding]).flatten();
        let rounding = digits.fold(0.0, f64::max);
        match groups.iter_mut().find(|group| (group.floor - floor).abs() < 1e-12) {
            Some(group) => {
                group.rounding = group.rounding.max(rounding);
                group.results.push(rows::name(row));
            }
            None => groups.push(AssumedGroup { floor, rounding, results: vec![rows::name(row)] }),
        }
    }
    if groups.is_empty() {
        return None;
    }
    let say = |group: &AssumedGroup| {
        let digits = format!("printed digits within {}", percent(group.rounding));
        format!("run-to-run variation {}, {digits}: {}", percent(group.floor), group.results.join("; "))
    };
    let items = groups.iter().map(say).collect();
    Some(DocumentSection::of("assumed error bars", Block::list(items)))
}

/// What probably slower or faster means; `None` if no result is.
pub(crate) fn note(comparison: &Comparison) -> Option<String> {
    let probable: usize = comparison.machines.iter().map(|machine| machine.tally.probable).sum();
    (probable > 0).then(|| {
        format!(
            "{} ({}): the source gives no error bars. The gap is larger than rounding, typical run-to-run variation and \
             30%. This is a rule of thumb, not a test.",
            capital(PROBABLE),
            plural(probable, "result")
        )
    })
}
