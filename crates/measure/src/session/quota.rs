//! Time taken from a session: launches wait for a quota to refill, rounds for their spacing, and rounds from which time
//! was taken are excluded.

use std::time::Duration;

use super::MeasureSession;
use super::group::LaunchGroup;
use crate::event::MeasureEvent;
use crate::evidence::{self, RoundEvidence};
use crate::outside::OutsideCounters;

/// Parts of a wait of the session, between which it reads the references.
const REST: Duration = Duration::from_millis(100);

/// A control group's quota of CPU time, and its effect on the session.
#[derive(Debug, Clone, Default)]
pub(super) struct QuotaPacing {
    /// Period of the quota; `None` if no quota applies.
    period: Option<Duration>,
    /// Time for which it has throttled the session.
    throttled: Duration,
    /// Whether launches wait for it: after it has throttled one.
    waits: bool,
}

impl QuotaPacing {
    pub(super) fn of(outside: &OutsideCounters) -> Self {
        Self { period: outside.quota_period, throttled: outside.throttled.unwrap_or_default(), waits: false }
    }
}

impl MeasureSession<'_> {
    /// Lets the quota refill before a launch, so that a launch that is short enough is never throttled.
    pub(super) fn rest(&mut self) {
        if let Some(period) = self.quota.period.filter(|_| self.quota.waits) {
            self.rest_for(period);
        }
    }

    /// Lets time pass until the next round may begin, or the limit of the run comes; the one before `began` at that
    /// second.
    pub(super) fn space_rounds(&mut self, began: f64) {
        let next = (began + self.run.plan.spacing).min(self.run.plan.time_limit.unwrap_or(f64::INFINITY));
        let left = next - self.elapsed();
        if left > 0.0 {
            self.rest_for(Duration::from_secs_f64(left));
        }
    }

    pub(super) fn rest_for(&mut self, time: Duration) {
        let mut left = time;
        while !left.is_zero() && !self.stopper.asked() {
            let part = left.min(REST);
            self.engine.rest(part, &self.stopper);
            self.sample();
            left -= part;
        }
    }

    /// Detects after a launch whether the quota throttled it.
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

    /// Judges the rounds since the last judgement, once they are long enough together, and excludes launches. A
    /// finished figure continues if it loses launches.
    pub(super) fn judge_rounds(&mut self, round: u32) {
        let rounds = self.first_unjudged..=round;
        let seen = RoundEvidence::of(&self.run.figures, &rounds);
        if !seen.suffices() {
            return;
        }
        self.first_unjudged = round + 1;
        let first_look = self.first_look();
        for reason in seen.reasons() {
            for index in 0..self.run.figures.len() {
                if super::not_measurable(&self.run.figures[index])
                    || evidence::exclude(&mut self.run.figures[index], &rounds, &reason, first_look) == 0
                {
                    continue;
                }
                let key = self.key(index);
                self.observer.on_event(&MeasureEvent::Repeated { key: &key, reason: reason.to_string() });
                self.progress[index].ended = false;
                self.look(&LaunchGroup(vec![index]));
            }
        }
    }

    /// Notes on a figure with one thread per CPU how many CPUs that is, if not all of them.
    pub(super) fn note_part_of_the_cpus(&mut self, index: usize) {
        let part = crate::part_of_the_cpus(&self.run.machine, &self.allowed);
        let figure = &mut self.run.figures[index];
        if let Some(part) = part.filter(|_| figure.point.get("threads") == Some("all")) {
            figure.notes.push(format!("threads=all is {part}"));
        }
    }
}
