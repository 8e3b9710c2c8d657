//! Impossible numbers of machines: such a fact is a typing error or a wrong unit, and would spoil predictions.

use std::ops::RangeInclusive;

use model::{Fact, FactValue};

use crate::sheet::SourceSheet;

/// Least and greatest value of a fact, and whether it is a whole number; `None` for unknown facts.
fn bounds(name: &str) -> Option<(RangeInclusive<f64>, bool)> {
    Some(match name {
        "cpu.cores" | "cpu.count" => (1.0..=1e8, true),
        "cpu.sockets" | "memory.channels" => (1.0..=1e6, true),
        "cpu.year" => (1940.0..=2200.0, true),
        // From the first stored-program machines to a multiple of what anybody has overclocked.
        "cpu.clock" => (1e3..=2e10, false),
        "memory.total" => (1.0..=1e18, false),
        // A machine may be without a cache.
        "cache.l2.size" | "cache.l3.size" => (0.0..=1e15, false),
        _ => return None,
    })
}

/// Why a number is impossible, as the words after "is".
pub(crate) fn fault(name: &str, value: f64) -> Option<&'static str> {
    let (bounds, whole) = bounds(name)?;
    match () {
        () if value < *bounds.start() => Some("less than any machine has"),
        () if value > *bounds.end() => Some("more than any machine has"),
        () if whole && value.fract() != 0.0 => Some("not a whole number"),
        () => None,
    }
}

/// Drops facts with impossible numbers, with a note for each; they are not parameters of a result.
pub(crate) fn leave_out(sheet: &mut SourceSheet) {
    let notes = &mut sheet.notes;
    sheet.facts.retain(|Fact { name, value, unit, .. }| {
        let FactValue::Number(number) = value else { return true };
        let Some(why) = fault(name, *number) else { return true };
        let unit = unit.as_deref().filter(|unit| *unit != "1").map(|unit| format!(" {unit}")).unwrap_or_default();
        notes.push(format!("{name} is stated as {number}{unit}, {why}: it was left out"));
        false
    });
}
