//! Two CPUs for two sides that run at once and must not share a core.

mod busy;

use kernels::core_sensor::CoreSensors;
use model::{CpuSet, Machine, Topology};
use os::topology::{CpuChoice, CpuRelation, plan, relation};

use self::busy::{CoreRelation, test};
use crate::Error;
use crate::facts;
use crate::subject::Stopper;

/// Most CPUs that are tried as a partner of the first.
const TRIED: usize = 4;

/// Two CPUs of this process on separate cores, the nearest of one class. In a guest this takes about a second of
/// measuring, because the reported cores may be the host's siblings.
///
/// # Errors
/// The reason for failure, as a clause: too few CPUs, threads of one core, or an inconclusive measurement.
pub fn separate_cores(machine: &Machine, allowed: &[usize], stopper: &Stopper) -> Result<[usize; 2], String> {
    let unknown;
    let topology = match &machine.topology {
        Some(topology) => topology,
        None => {
            unknown = Topology::unknown(allowed);
            &unknown
        }
    };
    let pairs = candidates(topology, allowed)?;
    if facts::cores_are_alone(machine, allowed) {
        return Ok(pairs[0]);
    }
    let tested = measured(&pairs, stopper);
    let restored = kernels::affinity::pin(allowed).map_err(|error| error.to_string());
    let tested = tested.map_err(|error| format!("whether two of its CPUs are one core is unknown: {error}"))?;
    restored?;
    decided(&tested)
}

/// Pairs of CPUs that the system reports as separate cores: the best first.
fn candidates(topology: &Topology, allowed: &[usize]) -> Result<Vec<[usize; 2]>, String> {
    let allowed = CpuSet::from(allowed);
    if allowed.len() < 2 {
        return Err("only one CPU may be used".to_owned());
    }
    let order = plan(topology, &allowed, CpuChoice::Compact(allowed.len()))?;
    let first = order[0];
    let apart = |other: &&usize| {
        topology.class(first) == topology.class(**other)
            && !matches!(relation(topology, first, **other), Some(CpuRelation::Sibling | CpuRelation::Same))
    };
    let found: Vec<[usize; 2]> = order[1..].iter().filter(apart).take(TRIED).map(|other| [first, *other]).collect();
    if found.is_empty() {
        Err("its CPUs are threads of one core, or of cores of different classes".to_owned())
    } else {
        Ok(found)
    }
}

/// Tests pairs until one is found separate.
fn measured(pairs: &[[usize; 2]], stopper: &Stopper) -> Result<Vec<([usize; 2], CoreRelation)>, Error> {
    kernels::affinity::pin(&pairs[0][..1])?;
    let sensors = CoreSensors::calibrate()?;
    let mut tested = Vec::new();
    for pair in pairs {
        let relation = test(*pair, sensors, stopper)?;
        tested.push((*pair, relation));
        if relation == CoreRelation::SeparateCores || stopper.asked() {
            break;
        }
    }
    Ok(tested)
}

/// The pair that was found separate.
fn decided(tested: &[([usize; 2], CoreRelation)]) -> Result<[usize; 2], String> {
    if let Some((separate, _)) = tested.iter().find(|(_, relation)| *relation == CoreRelation::SeparateCores) {
        return Ok(*separate);
    }
    let shared = tested.iter().find_map(|(cpus, relation)| match relation {
        CoreRelation::OneCore(factor) => Some((*cpus, *factor)),
        _ => None,
    });
    Err(match shared {
        Some(([one, other], factor)) => format!(
            "CPUs {one} and {other} are threads of one core (measured, {factor:.1} times slower beside each other)"
        ),
        None => "whether two of its CPUs are threads of one core could not be measured: others were at work".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_are_refused_by_what_is_measured_whatever_is_told() {
        let one = ([0, 1], CoreRelation::OneCore(1.6));
        let why = decided(&[one]).unwrap_err();
        assert!(why.contains("CPUs 0 and 1 are threads of one core (measured, 1.6 times slower"), "{why}");
        assert_eq!(decided(&[one, ([0, 2], CoreRelation::SeparateCores)]), Ok([0, 2]));
        assert!(decided(&[([0, 1], CoreRelation::Undecided)]).unwrap_err().contains("others were at work"));
        assert!(decided(&[]).is_err());
    }

    #[test]
    fn pairs_that_are_told_as_one_core_are_not_tried() {
        let two = Topology::unknown(&[0, 1]);
        assert_eq!(candidates(&two, &[0]).unwrap_err(), "only one CPU may be used");
        let found = candidates(&two, &[0, 1]).unwrap();
        assert_eq!(found.len(), 1);
        let mut siblings = two;
        siblings.cores = vec![CpuSet::from([0, 1].as_slice())];
        assert!(candidates(&siblings, &[0, 1]).is_err());
    }
}
