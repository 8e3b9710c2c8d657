//! CPUs that a host had nearer to each other in one run than in the other.

use compare::{CompareRow, Comparison, Relation};
use model::Unit;

use crate::PrintedQuantity;

/// Mark of a result of CPUs that were elsewhere.
pub(super) const ELSEWHERE: char = '§';

/// Whether a row is of CPUs that were elsewhere in one of its runs.
pub(super) fn is_elsewhere(row: &CompareRow) -> bool {
    row.ratios.iter().any(|ratio| ratio.elsewhere)
}

/// One sentence for each pair of CPUs that was elsewhere in another session of the reference's machine: their
/// hand-overs, and results of both, are then those of two machines.
pub(super) fn notes(comparison: &Comparison, reference: usize, other: usize) -> Vec<String> {
    let (Some(base), Some(machine)) = (comparison.machines.get(reference), comparison.machines.get(other)) else {
        return Vec::new();
    };
    if !matches!(machine.relation, Relation::SameSession | Relation::AnotherSession) {
        return Vec::new();
    }
    let sentence = |one: &model::CpuDistance| {
        let there = machine.distances.iter().find(|there| there.cpus == one.cpus && !there.is_like(one.picos))?;
        let [from, to] = [one.picos, there.picos]
            .map(|picos| PrintedQuantity::bare(f64::from(picos) * 1e-12, Unit::Seconds).short());
        let [first, second] = one.cpus;
        let marked = if comparison.rows.iter().any(is_elsewhere) { format!(" ({ELSEWHERE})") } else { String::new() };
        Some(format!(
            "The hypervisor placed CPUs {first} and {second} differently: a cache line took {to} between them vs {from}. \
             Ignore differences of results that use both{marked}"
        ))
    };
    base.distances.iter().filter_map(sentence).collect()
}
