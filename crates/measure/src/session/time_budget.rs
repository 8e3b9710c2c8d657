//! Distribution of the time of a limited run: to the figures that it can still finish.
//!
//! The noise of a figure rarely changes within one run, and half-widths shrink with the root of the number of launches.
//! A figure that a hundred further launches could not bring within its target should not delay one that needs five
//! more. A part of the time remains for such figures, so that their launches still span the whole session and their
//! intervals still narrow. It is a share of time, not of rounds: once most figures have ended, a round of all those
//! out of reach takes ten times as long as one of the others.
//!
//! A round has a least length, filled with figures out of reach: launches of one figure that follow one another at
//! once all meet the same neighbour, and say little more than one of them.

use model::PlanEntry;

use super::MeasureSession;
use super::expected::{begun_look, calling_half_width, expected_look, expected_of_levels, most_a_launch, untried};
use super::group::LaunchGroup;

/// Launches that waited for their core, from which on they say how many of them count.
const AWAITED: usize = 5;
/// Before the first look a dear figure is launched in one round of this number.
const TURN: u32 = 3;
/// Launches of which an interval says something, which as many figures as possible are to have before the limit comes.
const FEW: usize = 3;
/// How much longer a launch is than its calibration, before there is one: it warms up, and has all batches. Beside
/// other work rounds of short launches took two to three times as long.
const UNLAUNCHED: f64 = 2.5;
/// Share of the time limit that the launches of a figure until the first look may take; dear figures take more, and
/// would leave too little to the others.
const DEAR: f64 = 0.05;
/// Share of the limit that a figure may take to the first look whose interval can settle it, where fewer launches
/// promise nothing: the interval of few reaches to their extremes, and one that a neighbour disturbed unseen makes it
/// hopeless.
const UNTRIED: f64 = 0.01;
/// Share of the time after the first look that groups out of reach may take.
const BEYOND: f64 = 0.15;
/// Least length of a round after the first look, if there is enough to launch: this share of the limit, and at most so
/// many seconds, since contention of a core comes and goes within a second or two. Figures that more rounds would
/// settle within the limit have shorter ones, of this part at least.
const ROUND_SHARE: f64 = 0.012;
const LONGEST_ROUND: f64 = 2.0;
const SHORTEST_PART: f64 = 0.25;

/// How much longer than the limit a round of what takes turns may last, seconds.
const LATE: f64 = 30.0;

/// Least length of a round with so many seconds left of a limit, in which figures need so many rounds.
fn least_round(limit: f64, left: f64, rounds: f64) -> f64 {
    let longest = (ROUND_SHARE * limit).min(LONGEST_ROUND);
    (left / rounds.max(1.0)).clamp(SHORTEST_PART * longest, longest)
}

/// Seconds that groups out of reach may still take.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BeyondReach(f64);

impl BeyondReach {
    /// Those of `others`, each with its seconds, that come along in a round of at least `least` seconds whose other
    /// groups take `reached` seconds. The first ones wait until there is time for them, so that dear ones get their
    /// turn too.
    fn admit(&mut self, others: &[GroupCost], reached: f64, least: f64) -> Vec<usize> {
        self.0 += (least - reached).max(reached * BEYOND / (1.0 - BEYOND));
        let mut admitted = Vec::new();
        for other in others {
            if self.0 < other.seconds {
                return admitted;
            }
            self.0 -= other.seconds;
            admitted.push(other.group);
        }
        // Time that no figure needs is not saved up.
        self.0 = self.0.min(least);
        admitted
    }
}

/// Remaining cost of finishing figures of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GroupCost {
    pub(super) group: usize,
    /// Seconds to the look at which they are expected to finish; or of its next launch.
    seconds: f64,
    /// Figures that are expected to finish there.
    figures: usize,
}

impl GroupCost {
    fn of_one(&self) -> f64 {
        self.seconds / self.figures as f64
    }
}

/// The groups whose figures are cheapest first, as many as the time permits.
pub(super) fn within_budget(mut costs: Vec<GroupCost>, time: f64) -> Vec<GroupCost> {
    costs.sort_by(|a, b| a.of_one().total_cmp(&b.of_one()));
    let mut spent = 0.0;
    costs.retain(|cost| {
        let affordable = spent + cost.seconds <= time;
        spent += if affordable { cost.seconds } else { 0.0 };
        affordable
    });
    costs
}

/// The groups to which the time goes: those that are expected to finish within it, and of the others those that would
/// within twice what these leave. The root law is no promise: some of a group's figures end at earlier looks, and time
/// that is spread over all that is out of reach settles nothing.
fn reached(costs: Vec<GroupCost>, time: f64) -> Vec<GroupCost> {
    const HOPED: f64 = 2.0;
    let mut chosen = within_budget(costs.clone(), time);
    let spent: f64 = chosen.iter().map(|cost| cost.seconds).sum();
    let others = costs.into_iter().filter(|cost| !chosen.contains(cost)).collect();
    chosen.extend(within_budget(others, HOPED * (time - spent)));
    chosen
}

/// Whether launches of so many seconds until the first look take more than the share of the limit of their figures.
fn is_dear(seconds: f64, figures: usize, first: u32, limit: f64) -> bool {
    seconds * f64::from(first) > DEAR * limit * figures as f64
}

impl MeasureSession<'_> {
    /// The groups of this round: all of them without a time limit, and without those that are dear before the first
    /// look.
    pub(super) fn select_round(&mut self, mut groups: Vec<LaunchGroup>, round: u32) -> Vec<LaunchGroup> {
        let first = self.run.plan.looks.first().copied().unwrap_or(0);
        let Some(limit) = self.run.plan.time_limit else { return groups };
        if round < first {
            let groups = if round.is_multiple_of(TURN) { groups } else { self.affordable(groups, limit, first) };
            return match self.limit_to_spend() {
                Some(limit) => self.with_time_for_few(groups, limit),
                None => groups,
            };
        }
        let candidates = self.split_refined(&mut groups);
        let left = limit - self.elapsed();
        let costs = groups.iter().enumerate().filter_map(|(group, members)| self.cost(group, members));
        let reached = reached(costs.collect(), left);
        // What nothing else is expected to need brings core figures further.
        let needed: f64 = reached.iter().map(|cost| cost.seconds).sum();
        let budget = ((1.0 - BEYOND) * (left - needed)).max(self.refinement_left(limit));
        let refined = self.take_refined(candidates, budget, left);
        let mut selected = self.select_open(groups, &reached, &refined, limit);
        selected.extend(refined);
        if selected.is_empty() {
            // The time left is too short for any of them.
            self.progress.iter_mut().for_each(|progress| progress.refining = false);
        }
        selected
    }

    /// Those of the groups that are not refined: the ones that are reached, and of the others those for which there is
    /// time beside them and the refined ones.
    fn select_open(
        &mut self,
        groups: Vec<LaunchGroup>,
        reached: &[GroupCost],
        refined: &[LaunchGroup],
        limit: f64,
    ) -> Vec<LaunchGroup> {
        if reached.is_empty() && refined.is_empty() {
            return groups;
        }
        let left = limit - self.elapsed();
        let next = |group: usize| GroupCost { group, seconds: self.launch_seconds(&groups[group]), figures: 1 };
        let beside: f64 =
            if reached.is_empty() { refined.iter().map(|group| self.launch_seconds(group)).sum() } else { 0.0 };
        let taken = beside + reached.iter().map(|cost| next(cost.group).seconds).sum::<f64>();
        let is_reached = |group: &usize| reached.iter().any(|cost| cost.group == *group);
        let mut others: Vec<usize> = (0..groups.len()).filter(|group| !is_reached(group)).collect();
        others.sort_by_key(|group| self.run.figures[groups[*group].0[0]].launches.len());
        let others: Vec<GroupCost> = others.into_iter().map(next).collect();
        let rounds = reached.iter().map(|cost| cost.seconds / next(cost.group).seconds).fold(1.0, f64::max);
        let admitted = self.beyond_reach.admit(&others, taken, least_round(limit, left, rounds));
        let wanted = |group: usize| is_reached(&group) || admitted.contains(&group);
        groups.into_iter().enumerate().filter(|(group, _)| wanted(*group)).map(|(_, members)| members).collect()
    }

    /// The groups that are not dear before the first look; all if there is no other.
    fn affordable(&self, groups: Vec<LaunchGroup>, limit: f64, first: u32) -> Vec<LaunchGroup> {
        let dear = |group: &LaunchGroup| is_dear(self.progress[group.0[0]].seconds, group.0.len(), first, limit);
        let some: Vec<LaunchGroup> = groups.iter().filter(|group| !dear(group)).cloned().collect();
        if some.is_empty() { groups } else { some }
    }

    /// The limit of a run whose figures stand by themselves, so that some of them may have all of its time: probes.
    /// Commands, builds and applications take turns to be compared, and have the same rounds.
    pub(super) fn limit_to_spend(&self) -> Option<f64> {
        let of_probes = |entry: &PlanEntry| probes::find(&entry.probe).is_some();
        self.run.plan.time_limit.filter(|_| self.run.plan.entries.iter().any(of_probes))
    }

    /// The groups for [`FEW`] launches of which there is time, cheapest figures first: one launch of every figure is
    /// worth nothing. The cheapest one if there is time for none.
    fn with_time_for_few(&self, groups: Vec<LaunchGroup>, limit: f64) -> Vec<LaunchGroup> {
        let cost = |(group, members): (usize, &LaunchGroup)| {
            let missing = FEW.saturating_sub(self.valid(members.0[0]));
            let longer = if self.run.figures[members.0[0]].launches.is_empty() { UNLAUNCHED } else { 1.0 };
            let seconds = missing as f64 * longer * self.launch_seconds(members);
            GroupCost { group, seconds, figures: members.0.len() }
        };
        let costs: Vec<GroupCost> = groups.iter().enumerate().map(cost).collect();
        let cheapest = costs.iter().copied().min_by(|a, b| a.of_one().total_cmp(&b.of_one()));
        let mut chosen = within_budget(costs, limit - self.elapsed());
        if chosen.is_empty() {
            chosen.extend(cheapest);
        }
        let chosen = |group: usize| chosen.iter().any(|cost| cost.group == group);
        groups.into_iter().enumerate().filter(|(group, _)| chosen(*group)).map(|(_, members)| members).collect()
    }

    /// When a round begins no further launch, in seconds since the run began: at the limit. What the first round has
    /// launched is to have time for [`FEW`], and how long a launch takes is known from then on. What takes turns ends
    /// its round, unless that takes much longer than the limit.
    pub(super) fn end_of_round(&self, round: u32) -> Option<f64> {
        let limit = self.run.plan.time_limit?;
        Some(match self.limit_to_spend() {
            Some(limit) if round == 0 => self.elapsed() + (limit - self.elapsed()) / FEW as f64,
            Some(limit) => limit,
            None => limit + LATE,
        })
    }

    /// Launches of a figure until its next look; none after the last.
    pub(super) fn to_next_look(&self, index: usize) -> usize {
        let made = self.valid(index);
        self.run.plan.looks.iter().map(|look| *look as usize).find(|look| *look > made).map_or(0, |look| look - made)
    }

    /// Launches until a figure is expected to be where it is to get: by the root law, by its levels, or at the look
    /// that it has begun; else those until its interval says anything, if they take no more than `affordable` seconds
    /// of `each`. `None` if that is beyond the last look.
    fn launches_to_finish(&self, index: usize, each: f64, affordable: f64) -> Option<usize> {
        let (plan, figure) = (&self.run.plan, &self.run.figures[index]);
        let (made, target, looks) = (self.valid(index), self.wanted(index), &plan.looks);
        let fewest = stats::stop::fewest_launches(plan.level).unwrap_or(0);
        let half_width = figure.outcome.estimate().map_or(f64::INFINITY, calling_half_width);
        let by_root = expected_look(made, half_width, target, looks, fewest);
        let by_levels = expected_of_levels(&figure.values(), target, looks, plan.level);
        let begun = self.progress[index].refining.then(|| begun_look(made, looks)).flatten();
        let look = [by_root, by_levels, begun].into_iter().flatten().min();
        look.map(|look| look - made).or_else(|| untried(made, looks, fewest, each, affordable))
    }

    /// What it takes until most members of a group for the time are expected to finish; `None` if none is before the
    /// last look.
    pub(super) fn cost(&self, group: usize, members: &LaunchGroup) -> Option<GroupCost> {
        let leads = |index: &&usize| self.engine.leader(**index).is_none();
        let leading: Vec<usize> = members.0.iter().filter(leads).copied().collect();
        let each = self.launch_seconds(members);
        let affordable = UNTRIED * self.run.plan.time_limit.unwrap_or(0.0) * leading.len() as f64;
        let needed = |index| self.launches_to_finish(index, each, affordable);
        let launches: Vec<usize> = leading.into_iter().filter_map(needed).collect();
        let (launches, figures) = most_a_launch(&launches)?;
        Some(GroupCost { group, seconds: launches as f64 * each, figures })
    }

    /// Seconds of a launch of a group that counts, with those that did not count; of launches that wait for their core
    /// where there are some.
    pub(super) fn launch_seconds(&self, group: &LaunchGroup) -> f64 {
        let first = group.0[0];
        let launches = &self.run.figures[first].launches;
        let awaited: Vec<bool> =
            launches.iter().filter(|launch| launch.awaited).map(|launch| launch.invalid.is_none()).collect();
        let (made, counted) = match awaited.len() {
            AWAITED.. => (awaited.len(), awaited.iter().filter(|counts| **counts).count()),
            _ => (launches.len(), self.valid(first)),
        };
        self.progress[first].seconds * made.max(1) as f64 / counted.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_dear_beyond_its_share_of_the_limit() {
        // Eight launches in 100 s: five seconds for a figure, fifty for ten that share a launch.
        assert!(is_dear(0.7, 1, 8, 100.0) && !is_dear(0.6, 1, 8, 100.0));
        assert!(is_dear(7.0, 10, 8, 100.0) && !is_dear(6.0, 10, 8, 100.0));
        assert!(!is_dear(0.0, 1, 8, 100.0), "not launched yet");
    }

    /// Launches of groups out of reach, and the seconds that they and the others took, in rounds of 100 s.
    fn rounds(others: &[f64], reached: f64) -> (Vec<u32>, f64, f64) {
        let mut beyond = BeyondReach::default();
        let (mut launches, mut spent, mut now) = (vec![0; others.len()], 0.0, 0.0);
        while now < 100.0 {
            let mut order: Vec<usize> = (0..others.len()).collect();
            order.sort_by_key(|group| launches[*group]);
            let costs: Vec<GroupCost> =
                order.into_iter().map(|group| GroupCost { group, seconds: others[group], figures: 1 }).collect();
            let admitted = beyond.admit(&costs, reached, 2.0);
            let seconds: f64 = admitted.iter().map(|group| others[*group]).sum();
            admitted.iter().for_each(|group| launches[*group] += 1);
            spent += seconds;
            now += reached + seconds;
        }
        (launches, spent, now)
    }

    #[test]
    fn a_part_of_the_time_is_for_what_is_out_of_reach() {
        let (launches, spent, now) = rounds(&[1.5, 0.02, 0.4, 0.1, 2.0], 4.0);
        assert!((0.13..=0.18).contains(&(spent / now)), "{spent} s of {now}");
        assert!(launches.iter().max().unwrap() - launches.iter().min().unwrap() <= 1, "{launches:?}: each its turn");
        let (launches, ..) = rounds(&[12.0], 4.0);
        assert!(launches[0] >= 1, "the dearest too");
    }

    #[test]
    fn short_rounds_are_filled() {
        let (launches, spent, now) = rounds(&[0.9, 0.1, 0.8, 0.7, 0.6], 0.05);
        let rounds_made = (now - spent) / 0.05;
        assert!((1.5..=2.5).contains(&(now / rounds_made)), "{rounds_made} rounds in {now} s");
        assert!(launches.iter().all(|made| *made > 20), "{launches:?}");
        // With nothing to fill it a round is as short as it is.
        let (launches, ..) = rounds(&[0.1], 0.05);
        assert!(launches[0] > 500, "{launches:?}");
    }

    #[test]
    fn rounds_are_as_short_as_figures_in_reach_need() {
        // A suite of 170 s: 80 launches of a figure that has 20 do not fit into rounds of two seconds.
        assert_eq!(least_round(170.0, 150.0, 8.0), 2.0);
        assert_eq!(least_round(170.0, 90.0, 60.0), 1.5);
        assert_eq!(least_round(170.0, 5.0, 60.0), 0.5);
        assert_eq!(least_round(10.0, 8.0, 1.0), 0.12);
    }

    #[test]
    fn time_goes_to_the_cheapest_first() {
        let cost = |group, seconds, figures| GroupCost { group, seconds, figures };
        let costs = vec![cost(0, 5.0, 1), cost(1, 9.0, 6), cost(2, 1.0, 1), cost(3, 2.0, 1)];
        let groups = |time: f64| -> Vec<usize> {
            within_budget(costs.clone(), time).into_iter().map(|cost| cost.group).collect()
        };
        assert_eq!(groups(4.0), [2, 3], "what does not fit leaves its time to the next");
        assert_eq!(groups(12.0), [2, 1, 3], "six figures for nine seconds");
        assert_eq!(groups(100.0), [2, 1, 3, 0]);
        assert!(groups(0.5).is_empty());
    }

    #[test]
    fn time_that_nothing_expected_needs_goes_to_what_may_finish() {
        let cost = |group, seconds, figures| GroupCost { group, seconds, figures };
        let costs = vec![cost(0, 15.0, 1), cost(1, 66.0, 9), cost(2, 1.0, 1), cost(3, 300.0, 1)];
        let groups = |time: f64| -> Vec<usize> { reached(costs.clone(), time).iter().map(|cost| cost.group).collect() };
        assert_eq!(groups(400.0), [2, 1, 0, 3]);
        assert_eq!(groups(60.0), [2, 0, 1], "44 of 66 s, in which some of nine figures will end");
        assert_eq!(groups(30.0), [2, 0], "14 s are too few for them");
        assert_eq!(groups(10.0), [2, 0], "nine of fifteen");
        assert_eq!(groups(0.4), Vec::<usize>::new());
    }
}
