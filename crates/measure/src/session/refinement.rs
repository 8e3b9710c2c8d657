//! Part of the time of a limited run for core figures that are within their targets already: towards a fourth of it.
//!
//! Cycles of undisturbed batches agree within a fraction of a percent from launch to launch, so half a percent costs a
//! core figure a second or two where the same time brings nothing else within reach. Two runs whose intervals have half
//! the width of a band can be told to be the same within it; at the width of the band itself they never can.

use model::{Flag, ValueBasis};

use super::MeasureSession;
use super::group::LaunchGroup;
use super::time_budget::{GroupCost, within_budget};
use crate::judge;

/// The target of core figures that are within the plan's, as a part of that.
const FINER: f64 = 0.25;
/// Share of the time limit that launches towards it may take while other figures can be settled (afterwards it is what those
/// out of reach leave), and the least limit: a short run needs all its time for targets (`quick` brought 10 of 15 figures
/// within 2% where it brings 11).
const SHARE: f64 = 0.08;
const LEAST_LIMIT: f64 = 60.0;

impl MeasureSession<'_> {
    /// Half-width within which a figure is finished.
    pub(super) fn target(&self, index: usize) -> f64 {
        self.run.plan.entries.get(index).map_or(self.run.plan.target, |entry| entry.target)
    }

    /// The half-width towards which a figure is launched.
    pub(super) fn wanted(&self, index: usize) -> f64 {
        self.target(index) * if self.progress[index].refining { FINER } else { 1.0 }
    }

    /// Begins, goes on with or ends the refinement of a figure after a launch of it.
    pub(super) fn refine(&mut self, index: usize) {
        if self.progress[index].refining {
            self.weigh(index);
            let (target, tick) = (self.target(index), self.engine.tick());
            let figure = &mut self.run.figures[index];
            judge(figure, &self.run.plan, target, tick);
            // It was finished at an earlier look.
            figure.flags.retain(|flag| *flag != Flag::Unfinished);
        }
        let (target, figure) = (self.target(index), &self.run.figures[index]);
        let looks = &self.run.plan.looks;
        let made = u32::try_from(figure.counted().len()).unwrap_or(u32::MAX);
        let last = looks.last().is_some_and(|last| made >= *last);
        // To stop at any number of launches at which the interval happens to be narrow would choose narrow ones.
        let wide = !looks.contains(&made) || !figure.is_within(FINER * target, stats::CALLING_LEVEL);
        let settled = self.progress[index].ended && figure.is_within(target, self.run.plan.level);
        let own = self.engine.leader(index).is_none();
        let core = *figure.basis() == ValueBasis::Cycles;
        let time = self.run.plan.time_limit.is_some_and(|limit| limit >= LEAST_LIMIT);
        self.progress[index].refining = time && own && core && settled && wide && !last;
    }

    /// Removes the groups that are refined.
    pub(super) fn split_refined(&self, groups: &mut Vec<LaunchGroup>) -> Vec<LaunchGroup> {
        groups.extract_if(.., |group| group.0.iter().all(|index| self.progress[*index].refining)).collect()
    }

    /// Seconds that refinement may still take from what other figures need.
    pub(super) fn refinement_left(&self, limit: f64) -> f64 {
        SHARE * limit - self.refinement
    }

    /// Of the groups that are refined those that so many seconds permit.
    pub(super) fn take_refined(&mut self, found: Vec<LaunchGroup>, budget: f64) -> Vec<LaunchGroup> {
        let costs: Vec<GroupCost> = found.iter().enumerate().filter_map(|(at, group)| self.cost(at, group)).collect();
        let mut admitted: Vec<usize> = within_budget(costs, budget).into_iter().map(|cost| cost.group).collect();
        admitted.sort_unstable();
        let taken: Vec<LaunchGroup> = admitted.into_iter().map(|at| found[at].clone()).collect();
        self.refinement += taken.iter().map(|group| self.launch_seconds(group)).sum::<f64>();
        taken
    }
}
