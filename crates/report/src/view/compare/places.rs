//! CPUs that a host had nearer to each other in one run than in the other.

use analyse::Comparison;
use analyse::compare::Relation;
use model::Unit;

use crate::PrintedQuantity;

/// One sentence for each pair of CPUs that was elsewhere in another session of the reference's machine: their hand-overs,
/// and figures of both, are then those of two machines.
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
        Some(format!(
            "The host had CPUs {first} and {second} elsewhere: a cache line took {to} between them against {from}, so that \
             figures that use both are of two machines"
        ))
    };
    base.distances.iter().filter_map(sentence).collect()
}
