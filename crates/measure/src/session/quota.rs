//! What the outside takes from a session: a quota is waited for, rounds from which time was taken are excluded.

use std::time::Duration;

use super::MeasureSession;
use super::group::LaunchGroup;
use crate::event::MeasureEvent;
use crate::evidence::{self, RoundEvidence};
use crate::outside::OutsideCounters;

/// Parts in which the session waits, between which it reads the references.
const REST: Duration = Duration::from_millis(100);

/// A control group's quota of CPU time, and what it has done to the session.
#[derive(Debug, Clone, Default)]
pub(super) struct QuotaPacing {
    /// After which the time is given anew; `None` where no quota binds.
    period: Option<Duration>,
    /// For how long it has stopped the session so far.
    throttled: Duration,
    /// Whether launches wait for it: once it has stopped one.
    waits: bool,
}

impl QuotaPacing {
    pub(super) fn of(outside: &OutsideCounters) -> Self {
        Self { period: outside.quota_period, throttled: outside.throttled.unwrap_or_default(), waits: false }
    }
}

impl MeasureSession<'_> {
    /// Lets the quota refill before a launch, so that a launch which fits into it is never stopped.
    pub(super) fn rest(&mut self) {
        if let Some(period) = self.quota.period.filter(|_| self.quota.waits) {
            let mut left = period;
            while !left.is_zero() && !self.stopper.asked() {
                let part = left.min(REST);
                self.engine.rest(part, &self.stopper);
                self.sample();
                left -= part;
            }
        }
    }

    /// Notices after a launch whether the quota stopped it.
    pub(super) fn notice_throttling(&mut self) {
        if self.quota.period.is_some() && !self.quota.waits {
            let now = self.engine.outside(&self.allowed).throttled.unwrap_or_default();
            self.quota.waits = now > self.quota.throttled;
            self.quota.throttled = now;
        }
    }

    /// The fewest launches that a figure will have.
    pub(super) fn first_look(&self) -> u32 {
        self.run.plan.looks.first().copied().unwrap_or(0)
    }

    /// Judges the rounds since the last judgement, once they are long enough together, and excludes what should not count. A figure
    /// that had ended goes on when it loses launches.
    pub(super) fn judge_rounds(&mut self, round: u32) {
        let rounds = self.unjudged..=round;
        let seen = RoundEvidence::of(&self.run.figures, &rounds);
        if !seen.suffices() {
            return;
        }
        self.unjudged = round + 1;
        let first_look = self.first_look();
        for reason in seen.reasons() {
            for index in 0..self.run.figures.len() {
                if super::given_up(&self.run.figures[index])
                    || evidence::exclude(&mut self.run.figures[index], &rounds, &reason, first_look) == 0
                {
                    continue;
                }
                let key = self.key(index);
                self.listener.on_event(&MeasureEvent::Repeated { key: &key, reason: reason.to_string() });
                self.progress[index].ended = false;
                self.look(&LaunchGroup(vec![index]));
            }
        }
    }

    /// Says of a figure with one thread a CPU how many CPUs that is, where it is not all of them.
    pub(super) fn note_part_of_the_cpus(&mut self, index: usize) {
        let part = crate::part_of_the_cpus(&self.run.machine, &self.allowed);
        let figure = &mut self.run.figures[index];
        if let Some(part) = part.filter(|_| figure.point.get("threads") == Some("all")) {
            figure.notes.push(format!("threads=all is {part}"));
        }
    }
}
