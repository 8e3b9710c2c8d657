//! Chooses the next results to measure: no sensors, no statistics.
//!
//! Without a time limit every round has one sample of each result that has not ended. With one, a round has the results
//! that are expected to converge in the time that is left, cheapest first. A share of the time remains for the others,
//! and what nothing needs tightens the intervals of results that have converged.

use model::{PlanEntry, RULES};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::seed::mix;

/// Results that are prepared together and whose batches are interleaved in one sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SampleGroup(pub(crate) Vec<usize>);

/// Groups of the results that are still measured: sharers together, the others alone.
pub(crate) fn groups(
    entries: &[PlanEntry],
    active: impl Fn(usize) -> bool,
    alone: impl Fn(usize) -> bool,
) -> Vec<SampleGroup> {
    let mut groups: Vec<(Option<&str>, SampleGroup)> = Vec::new();
    for (index, entry) in entries.iter().enumerate().filter(|(index, _)| active(*index)) {
        let key = entry.shares.as_deref().filter(|_| !alone(index));
        match groups.iter_mut().find(|(known, _)| key.is_some() && *known == key) {
            Some((_, group)) => group.0.push(index),
            None => groups.push((key, SampleGroup(vec![index]))),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The order of a round: drawn from the seed, so that drift of the machine affects all results equally and the run can
/// be repeated.
pub(crate) fn shuffle(groups: &mut [SampleGroup], seed: u64, round: u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(mix(seed, u64::from(round)));
    groups.shuffle(&mut rng);
}

/// A group that may be launched.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// Seconds of a sample that counts.
    pub(crate) seconds: f64,
    /// Samples that its results have.
    pub(crate) made: usize,
    /// Further samples after which each of its results is expected to have converged; of those alone that are
    /// expected to.
    pub(crate) needed: Vec<usize>,
    /// Whether it has converged, is at a checkpoint, and is launched for a narrower interval.
    pub(crate) tightens: bool,
}

impl Candidate {
    /// Seconds to where most results a sample are expected to have converged, and those seconds for each.
    fn cost(&self) -> Option<(f64, f64)> {
        let within = |samples: usize| self.needed.iter().filter(|own| **own <= samples).count() as f64;
        let each = |samples: &usize| *samples as f64 * self.seconds / within(*samples);
        let best = self.needed.iter().min_by(|a, b| each(a).total_cmp(&each(b)))?;
        Some((*best as f64 * self.seconds, each(best)))
    }
}

/// State of a limited run between its rounds.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// Seconds that groups may still take which are not expected to converge.
    allowance: f64,
    /// When the present round began, and how long the last one took, seconds.
    began: Option<f64>,
    round: f64,
}

impl Schedule {
    /// Notes that a round begins.
    pub(crate) fn begin_round(&mut self, now: f64) {
        self.round = self.began.replace(now).map_or(0.0, |began| now - began);
    }

    /// The positions of the candidates in a round, with `left` seconds left of a limit.
    pub(crate) fn select(&mut self, candidates: &[Candidate], limit: f64, left: f64) -> Vec<usize> {
        let rules = &RULES.schedule;
        let (tightening, open): (Vec<usize>, Vec<usize>) =
            (0..candidates.len()).partition(|at| candidates[*at].tightens);
        let (mut chosen, needed) = within_budget(candidates, &open, left);
        let mut others: Vec<usize> = open.into_iter().filter(|at| !chosen.contains(at)).collect();
        // Time that no result is expected to need makes intervals narrower. A step that has begun should be finished.
        let fits = |at: &usize| {
            let step = candidates[*at].needed.first().map_or(0.0, |step| *step as f64);
            step * self.round <= rules.sure_share * left
        };
        let tightening: Vec<usize> = tightening.into_iter().filter(fits).collect();
        let spare = (1.0 - rules.infeasible_share) * (left - needed);
        chosen.extend(within_budget(candidates, &tightening, spare).0);
        if chosen.is_empty() {
            return if others.iter().all(|at| candidates[*at].made > 0) {
                others
            } else {
                cheapest(candidates, &others)
            };
        }
        let seconds: f64 = chosen.iter().map(|at| candidates[*at].seconds).sum();
        let rounds = chosen.iter().filter_map(|at| Some(candidates[*at].cost()?.0 / candidates[*at].seconds));
        let least = (rules.round_share * limit).min(rules.round_seconds).min(left / rounds.fold(1.0, f64::max));
        let share = rules.infeasible_share / (1.0 - rules.infeasible_share);
        self.allowance += (least - seconds).max(share * seconds);
        // The first one waits until there is time for it, so that expensive ones are measured too.
        others.sort_by_key(|at| candidates[*at].made);
        for at in others {
            if self.allowance < candidates[at].seconds {
                return chosen;
            }
            self.allowance -= candidates[at].seconds;
            chosen.push(at);
        }
        // Time that no result needs is not saved up.
        self.allowance = self.allowance.min(least);
        chosen
    }
}

/// The candidates that converge cheapest, as many as the time permits, and the seconds that they need.
fn within_budget(candidates: &[Candidate], of: &[usize], time: f64) -> (Vec<usize>, f64) {
    let mut costs: Vec<(usize, (f64, f64))> = of.iter().filter_map(|at| Some((*at, candidates[*at].cost()?))).collect();
    costs.sort_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
    let mut spent = 0.0;
    costs.retain(|(_, (seconds, _))| {
        let affordable = spent + seconds <= time;
        spent += if affordable { *seconds } else { 0.0 };
        affordable
    });
    (costs.into_iter().map(|(at, _)| at).collect(), spent)
}

/// The one whose samples are cheapest: one sample of everything is worth nothing.
fn cheapest(candidates: &[Candidate], of: &[usize]) -> Vec<usize> {
    let seconds = |at: &&usize| candidates[**at].seconds;
    of.iter().min_by(|a, b| seconds(a).total_cmp(&seconds(b))).copied().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(benchmark: &str, shares: Option<&str>) -> PlanEntry {
        PlanEntry {
            benchmark: benchmark.to_owned(),
            parameters: model::Parameters::none(),
            target: 0.02,
            shares: shares.map(str::to_owned),
        }
    }

    #[test]
    fn sharers_stand_together_unless_one_must_be_alone() {
        let entries = [entry("a", Some("x")), entry("b", None), entry("c", Some("x")), entry("d", None)];
        let all = groups(&entries, |_| true, |_| false);
        assert_eq!(all, [SampleGroup(vec![0, 2]), SampleGroup(vec![1]), SampleGroup(vec![3])]);
        let some = groups(&entries, |index| index != 1, |index| index == 2);
        assert_eq!(some, [SampleGroup(vec![0]), SampleGroup(vec![2]), SampleGroup(vec![3])]);
    }

    #[test]
    fn rounds_are_shuffled_alike_for_a_seed_and_differ_between_rounds() {
        let order = |seed, round| {
            let mut groups: Vec<SampleGroup> = (0..20).map(|index| SampleGroup(vec![index])).collect();
            shuffle(&mut groups, seed, round);
            groups
        };
        assert_eq!(order(1, 0), order(1, 0));
        assert_ne!(order(1, 0), order(1, 1));
        assert_ne!(order(1, 0), order(2, 0));
    }

    fn open(seconds: f64, needed: &[usize]) -> Candidate {
        Candidate { seconds, made: 8, needed: needed.to_vec(), tightens: false }
    }

    fn selected(candidates: &[Candidate], left: f64) -> Vec<usize> {
        Schedule::default().select(candidates, 0.0, left)
    }

    #[test]
    fn time_goes_to_the_cheapest_first() {
        let all = [open(1.0, &[5]), open(1.5, &[6; 6]), open(1.0, &[1]), open(0.5, &[4])];
        assert_eq!(selected(&all, 4.0), [2, 3], "what does not fit leaves its time to the next");
        assert_eq!(selected(&all, 12.0), [2, 1, 3], "six results for nine seconds");
        assert_eq!(selected(&all, 100.0), [2, 1, 3, 0]);
        assert_eq!(selected(&all, 0.4), [0, 1, 2, 3], "none is expected to converge");
        let one_of_three = [open(1.0, &[6, 30, 30]), open(1.0, &[20, 30, 30, 62])];
        assert_eq!(one_of_three[0].cost(), Some((6.0, 6.0)), "one in six, or three in thirty");
        assert_eq!(one_of_three[1].cost(), Some((30.0, 10.0)));
    }

    #[test]
    fn what_is_infeasible_gets_a_share_of_the_time() {
        let seconds = [1.5, 0.02, 0.4, 0.1, 2.0];
        let mut all: Vec<Candidate> = seconds.iter().map(|seconds| open(*seconds, &[])).collect();
        all.push(open(4.0, &[1]));
        let (mut schedule, mut spent, mut samples) = (Schedule::default(), [0.0; 2], [0; 6]);
        for _ in 0..60 {
            for at in schedule.select(&all, 0.0, 100.0) {
                spent[usize::from(at == 5)] += all[at].seconds;
                samples[at] += 1;
                all[at].made += usize::from(at != 5);
            }
        }
        let share = spent[0] / (spent[0] + spent[1]);
        assert!((0.08..=0.13).contains(&share), "{share}");
        let (most, least) = (samples[..5].iter().max().unwrap(), samples[..5].iter().min().unwrap());
        assert!(most - least <= 1, "{samples:?}: each its turn");
    }

    #[test]
    fn rounds_are_as_long_as_the_results_that_converge_can_afford() {
        let mut all = vec![open(0.05, &[10])];
        all.extend((0..100).map(|_| open(0.1, &[])));
        let seconds = |left: f64| -> f64 {
            Schedule::default().select(&all, 170.0, left).into_iter().map(|at| all[at].seconds).sum()
        };
        assert!((1.9..=2.1).contains(&seconds(150.0)), "{}", seconds(150.0));
        assert!((0.4..=0.6).contains(&seconds(5.0)), "{}: ten more rounds have to fit", seconds(5.0));
    }

    #[test]
    fn intervals_are_tightened_in_the_time_that_nothing_needs() {
        let tightens = Candidate { tightens: true, ..open(1.0, &[4]) };
        let all = [open(1.0, &[10]), tightens];
        assert_eq!(selected(&all, 20.0), [0, 1]);
        assert_eq!(selected(&all, 12.0), [0]);
        let mut schedule = Schedule { round: 6.0, ..Schedule::default() };
        assert_eq!(schedule.select(&all, 0.0, 29.0), [0], "four rounds of six seconds do not fit for sure");
    }
}
