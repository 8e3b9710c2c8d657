//! Which CPUs the parties of a probe run on.

use model::Point;
use probes::{Parties, Probe};

/// More parties than any probe has: each finds its own CPU in a list of so many.
const PARTIES: usize = 64;

/// A CPU for each party of a probe at a point, from the CPUs that may be used; empty leaves the scheduler free.
///
/// One party runs on the last CPU: interrupts usually go to the first.
///
/// # Errors
/// When the placement needs more CPUs than there are, as a clause that follows "not measured: ".
pub fn place(probe: &Probe, point: &Point, allowed: &[usize]) -> Result<Vec<usize>, String> {
    let last = *allowed.last().ok_or("no CPU may be used")?;
    match probe.parties {
        Parties::One => Ok(vec![last]),
        Parties::Threads => match point.get("threads") {
            Some("all") => Ok(allowed.iter().rev().copied().collect()),
            _ => Ok(vec![last]),
        },
        Parties::Placed => match point.get("placement") {
            Some("same_cpu") => Ok(vec![last; PARTIES]),
            Some("cross_cpu") if allowed.len() < 2 => Err("two CPUs are needed and only one may be used".to_owned()),
            Some("cross_cpu") => Ok([last, partner(last, allowed)].into_iter().cycle().take(PARTIES).collect()),
            _ => Ok(Vec::new()),
        },
        Parties::Free => Ok(Vec::new()),
    }
}

/// The CPU for the second party: on another core where there is one, for two threads of one core share its resources.
fn partner(of: usize, allowed: &[usize]) -> usize {
    let topology = sys::topology::Topology::read().ok();
    let siblings =
        topology.as_ref().and_then(|topology| topology.cpu(of)).map(|cpu| cpu.siblings.clone()).unwrap_or_default();
    let mut others = allowed.iter().rev().copied().filter(|cpu| *cpu != of);
    others.clone().find(|cpu| !siblings.contains(cpu)).or_else(|| others.next()).unwrap_or(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(parties: Parties) -> Probe {
        Probe { parties, ..Probe::BLANK }
    }

    #[test]
    fn parties_go_where_the_point_says() {
        let at = |text: &str| text.parse::<Point>().unwrap();
        assert_eq!(place(&probe(Parties::One), &at(""), &[0, 1]), Ok(vec![1]));
        assert_eq!(place(&probe(Parties::Placed), &at("placement=same_cpu"), &[0, 1]), Ok(vec![1; PARTIES]));
        let across = place(&probe(Parties::Placed), &at("placement=cross_cpu"), &[0, 1]).unwrap();
        assert_eq!((across.len(), &across[..4]), (PARTIES, &[1, 0, 1, 0][..]), "neighbours sit on different CPUs");
        assert_eq!(place(&probe(Parties::Placed), &at("placement=free"), &[0, 1]), Ok(vec![]));
        assert!(place(&probe(Parties::Placed), &at("placement=cross_cpu"), &[3]).is_err());
        assert_eq!(place(&probe(Parties::Threads), &at("threads=all"), &[0, 1]), Ok(vec![1, 0]));
    }
}
