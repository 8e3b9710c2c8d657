//! Part of the time of a limited run for core figures that are within their targets already: towards a fourth of it.
//!
//! Cycles of undisturbed batches agree within a fraction of a percent from launch to launch, so half a percent costs a
//! core figure a second or two where the same time brings nothing else within reach. Two runs whose intervals have half
//! the width of a band can be told to be the same within it; at the width of the band itself they never can.

use model::{Flag, ValueBasis};

use super::MeasureSession;
use super::expected::begun_look;
use super::group::LaunchGroup;
use super::time_budget::{GroupCost, within_budget};
use crate::judge;

/// The target of core figures that are within the plan's, as a part of that.
const FINER: f64 = 0.25;
/// Share of the time limit that launches towards it may take while other figures can be settled (afterwards it is what
/// those out of reach leave), and the least limit: a short run needs all its time for targets (`quick` brought 10 of 15
/// figures within 2% where it brings 11).
const SHARE: f64 = 0.08;
const LEAST_LIMIT: f64 = 60.0;

/// Share of the time left that the rounds to the next look may take as they were lately: a step that is begun is
/// finished.
const SURE: f64 = 0.8;
/// Weight of the last round in what a round takes lately.
const LATELY: f64 = 0.3;

/// What the refinement of a run took, and how long rounds take.
#[derive(Debug, Default)]
pub(super) struct Refinement {
    /// Seconds of its launches, to the looks towards which they were begun.
    spent: f64,
    /// When the present round began, in seconds of the session, and what rounds take lately.
    began: Option<f64>,
    round: f64,
}

impl MeasureSession<'_> {
    /// Notes that a round begins, and when: seconds of the session.
    pub(super) fn note_round(&mut self) -> f64 {
        let now = self.elapsed();
        if let Some(began) = self.refinement.began.replace(now) {
            self.refinement.round += LATELY * (now - began - self.refinement.round);
        }
        now
    }

    /// Half-width within which a figure is finished.
    pub(super) fn target(&self, index: usize) -> f64 {
        self.run.plan.entries.get(index).map_or(self.run.plan.target, |entry| entry.target)
    }

    /// The half-width towards which a figure is launched.
    pub(super) fn wanted(&self, index: usize) -> f64 {
        self.target(index) * if self.progress[index].refining { FINER } else { 1.0 }
    }

    /// Begins, goes on with or ends the refinement of a figure after a launch of it. Between two looks nothing is
    /// decided.
    pub(super) fn refine(&mut self, index: usize) {
        let (refining, target) = (self.progress[index].refining, self.target(index));
        if refining {
            self.weigh(index);
            judge(&mut self.run.figures[index], &self.run.plan, target, self.engine.tick());
        }
        let at_look = !self.is_between_looks(index);
        let within = self.run.figures[index].is_within(target, self.run.plan.level);
        if refining && at_look && !within {
            // More launches say that it was called too early.
            self.progress[index].ended = false;
        } else if refining {
            // It was finished at an earlier look.
            self.run.figures[index].flags.retain(|flag| *flag != Flag::Unfinished);
        }
        if refining && !at_look {
            return;
        }
        let figure = &self.run.figures[index];
        let last = self.run.plan.looks.last().is_some_and(|last| figure.counted().len() >= *last as usize);
        // To stop at any number of launches at which the interval happens to be narrow would choose narrow ones.
        let wide = !at_look || !figure.is_within(FINER * target, stats::CALLING_LEVEL);
        let settled = self.progress[index].ended && within;
        let own = self.engine.leader(index).is_none();
        let core = *figure.basis() == ValueBasis::Cycles;
        let time = self.run.plan.time_limit.is_some_and(|limit| limit >= LEAST_LIMIT);
        self.progress[index].refining = time && own && core && settled && wide && !last;
    }

    /// Removes the groups that are refined and are at a look. Between two looks they are as open as others: left there,
    /// a figure that was within its target may no longer be, at the level of so many launches.
    pub(super) fn split_refined(&self, groups: &mut Vec<LaunchGroup>) -> Vec<LaunchGroup> {
        let at_a_look = |index: &usize| self.progress[*index].refining && !self.is_between_looks(*index);
        groups.extract_if(.., |group| group.0.iter().all(at_a_look)).collect()
    }

    /// Whether the launches of a figure lie between two looks.
    fn is_between_looks(&self, index: usize) -> bool {
        begun_look(self.valid(index), &self.run.plan.looks).is_some()
    }

    /// Seconds that refinement may still take from what other figures need.
    pub(super) fn refinement_left(&self, limit: f64) -> f64 {
        SHARE * limit - self.refinement.spent
    }

    /// Of the groups that are refined those that so many seconds permit, and the time left.
    pub(super) fn take_refined(&mut self, mut found: Vec<LaunchGroup>, budget: f64, left: f64) -> Vec<LaunchGroup> {
        let step = |session: &Self, group: &LaunchGroup| session.to_next_look(group.0[0]).max(1) as f64;
        found.retain(|group| step(self, group) * self.refinement.round <= SURE * left);
        let costs: Vec<GroupCost> = found.iter().enumerate().filter_map(|(at, group)| self.cost(at, group)).collect();
        let mut admitted: Vec<usize> = within_budget(costs, budget).into_iter().map(|cost| cost.group).collect();
        admitted.sort_unstable();
        let taken: Vec<LaunchGroup> = admitted.into_iter().map(|at| found[at].clone()).collect();
        let seconds = |group: &LaunchGroup| step(self, group) * self.launch_seconds(group);
        self.refinement.spent += taken.iter().map(seconds).sum::<f64>();
        taken
    }
}
