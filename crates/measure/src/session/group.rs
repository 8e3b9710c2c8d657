//! Figures that share a launch.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use model::PlanEntry;

use crate::seed::mix;

/// Figures that are prepared together and whose batches are interleaved in one launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LaunchGroup(pub(super) Vec<usize>);

/// Groups of the figures that are still measured: sharers together, the others alone.
pub(super) fn groups(
    entries: &[PlanEntry],
    active: impl Fn(usize) -> bool,
    alone: impl Fn(usize) -> bool,
) -> Vec<LaunchGroup> {
    let mut groups: Vec<(Option<&str>, LaunchGroup)> = Vec::new();
    for (index, entry) in entries.iter().enumerate().filter(|(index, _)| active(*index)) {
        let key = entry.shares.as_deref().filter(|_| !alone(index));
        match groups.iter_mut().find(|(known, _)| key.is_some() && *known == key) {
            Some((_, group)) => group.0.push(index),
            None => groups.push((key, LaunchGroup(vec![index]))),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The order of a round: drawn from the seed, so that drift of the machine affects all figures equally and the run can
/// be repeated.
pub(super) fn shuffle(groups: &mut [LaunchGroup], seed: u64, round: u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(mix(seed, u64::from(round)));
    groups.shuffle(&mut rng);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(probe: &str, shares: Option<&str>) -> PlanEntry {
        PlanEntry {
            probe: probe.to_owned(),
            point: model::Point::origin(),
            target: 0.02,
            shares: shares.map(str::to_owned),
        }
    }

    #[test]
    fn sharers_stand_together_unless_one_must_be_alone() {
        let entries = [entry("a", Some("x")), entry("b", None), entry("c", Some("x")), entry("d", None)];
        let all = groups(&entries, |_| true, |_| false);
        assert_eq!(all, [LaunchGroup(vec![0, 2]), LaunchGroup(vec![1]), LaunchGroup(vec![3])]);
        let some = groups(&entries, |index| index != 1, |index| index == 2);
        assert_eq!(some, [LaunchGroup(vec![0]), LaunchGroup(vec![2]), LaunchGroup(vec![3])]);
    }

    #[test]
    fn rounds_are_shuffled_alike_for_a_seed_and_differ_between_rounds() {
        let order = |seed, round| {
            let mut groups: Vec<LaunchGroup> = (0..20).map(|index| LaunchGroup(vec![index])).collect();
            shuffle(&mut groups, seed, round);
            groups
        };
        assert_eq!(order(1, 0), order(1, 0));
        assert_ne!(order(1, 0), order(1, 1));
        assert_ne!(order(1, 0), order(2, 0));
    }
}
