//! Assumed spreads of printed values, with both their parts.

use compare::{AssumedSpread, CompareVerdict, Comparison};
use model::percent;

use super::rows;
use crate::words::plural;
use crate::{Block, DocumentSection};

/// Results with one session floor.
struct AssumedGroup {
    floor: f64,
    rounding: f64,
    results: Vec<String>,
}

/// One line for each session floor: the floor, the precision of printed digits, and the results that are DIFFERENT
/// under both.
pub(crate) fn section(comparison: &Comparison, others: &[usize]) -> Option<DocumentSection> {
    let mut groups: Vec<AssumedGroup> = Vec::new();
    for row in &comparison.rows {
        let ratios = others.iter().filter_map(|other| row.ratios.get(*other));
        let assumed: Vec<&AssumedSpread> = ratios
            .filter(|ratio| ratio.verdict == Some(CompareVerdict::DifferentSpreadAssumed))
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
        let digits = format!("printed digits to within {}", percent(group.rounding));
        format!("session floor {}, {digits}: {}", percent(group.floor), group.results.join("; "))
    };
    let items = groups.iter().map(say).collect();
    Some(DocumentSection::of("spread assumed", Block::list(items)))
}

/// Explanation of DIFFERENT, spread assumed; `None` if there is none.
pub(crate) fn note(comparison: &Comparison) -> Option<String> {
    let assumed: usize = comparison.machines.iter().map(|machine| machine.tally.assumed).sum();
    (assumed > 0).then(|| {
        format!(
            "DIFFERENT, spread assumed ({}): no spread is printed; it is beyond what the printed digits and the session \
             floor of its class allow, and beyond 30%. That is no test.",
            plural(assumed, "result")
        )
    })
}
