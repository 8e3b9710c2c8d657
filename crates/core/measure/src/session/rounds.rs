//! The rounds of a run: every result is calibrated once, then each round has samples of the results that the schedule
//! selects. A plan of thousands of results is measured part by part, so that an interrupted run has finished results
//! instead of two samples of each.

use std::time::Duration;

use model::{Outcome, RULES};

use super::samples::SampleNumber;
use super::{EndReason, MeasureSession, not_measurable};
use crate::event::MeasureEvent;
use crate::schedule::{self, Candidate, SampleGroup};
use crate::subject::SampleError;
use crate::worker::Purpose;

/// A run with short rounds is saved again after this multiple of the last save's duration: a tenth of a second for a
/// large one on a disk that is flushed.
const SAVE_AFTER: f64 = 40.0;
/// How much longer than the limit a round of results that are compared may last, seconds.
const LATE: f64 = 30.0;

impl MeasureSession<'_> {
    /// Calibrates, then measures round by round until all results are finished or the run ends otherwise.
    pub(super) fn rounds(&mut self) -> EndReason {
        match self.parts() {
            Ok(()) => EndReason::Complete,
            // Saves samples since the last save, unless saving has failed.
            Err(ending @ EndReason::NotSaved(_)) => ending,
            Err(ending) => self.save().err().unwrap_or(ending),
        }
    }

    fn parts(&mut self) -> Result<(), EndReason> {
        for index in 0..self.run.results.len() {
            if not_measurable(&self.run.results[index]) && !self.progress[index].ended {
                self.end_result(index, None);
            }
        }
        loop {
            self.begin_part();
            self.calibrate()?;
            self.save()?;
            self.measure_rounds()?;
            if self.progress.iter().all(|progress| progress.ended) {
                return self.save();
            }
        }
    }

    /// Selects the next results that have not ended, in the order of the plan; sharers stay together.
    fn begin_part(&mut self) {
        let mut part = Vec::new();
        for group in self.groups(|session, index| !session.progress[index].ended) {
            if part.len() >= RULES.schedule.part as usize {
                break;
            }
            part.extend(group.0);
        }
        self.progress.iter_mut().for_each(|progress| progress.in_part = false);
        part.into_iter().for_each(|index| self.progress[index].in_part = true);
    }

    pub(super) fn active(&self, index: usize) -> bool {
        let progress = &self.progress[index];
        progress.in_part && (!progress.ended || progress.tightens)
    }

    pub(super) fn groups(&self, wanted: impl Fn(&Self, usize) -> bool) -> Vec<SampleGroup> {
        schedule::groups(&self.run.plan.entries, |index| wanted(self, index), |index| self.progress[index].alone)
    }

    /// The limit of a run whose results are independent, so that some of them may have all of its time.
    pub(super) fn limit_to_spend(&self) -> Option<f64> {
        self.run.plan.time_limit.filter(|_| self.progress.iter().any(|progress| progress.asked.stands_alone))
    }

    fn calibrate(&mut self) -> Result<(), EndReason> {
        let uncalibrated = |session: &Self, index: usize| session.active(index) && session.run.results[index].ops == 0;
        let of = self.run.results.len();
        let began = self.elapsed();
        loop {
            // Cheap groups first. Shared preparations do not count, least of all one that finds what all samples
            // measure. Groups are rebuilt after each one, because a crash dissolves one.
            let expense = |group: &SampleGroup| {
                let asked = &self.progress[group.0[0]].asked;
                (asked.batches == Some(1), asked.shares)
            };
            let Some(group) = self.groups(uncalibrated).into_iter().min_by_key(expense) else { return Ok(()) };
            let share = self.limit_to_spend().map_or(0.0, |limit| (self.elapsed() - began) / limit);
            // Slow preparations wait from half of that on.
            let most = RULES.schedule.calibration_share / if expense(&group).0 { 2.0 } else { 1.0 };
            if share > most && self.put_off(uncalibrated) {
                return Ok(());
            }
            let key = self.key(group.0[0]);
            let done = of - (0..of).filter(|index| uncalibrated(self, *index)).count();
            self.observer.on_event(&MeasureEvent::Calibrating { key: &key, done, of });
            let step = self.step(Purpose::Calibrate, &group, SampleNumber::default());
            match self.launch(&step, &group, false) {
                Err(SampleError::Stopped) => return Err(EndReason::Stopped),
                Err(_) => {} // Dissolved: its members are tried one by one. One that was killed is tried again.
                Ok(_) => {
                    self.learn();
                    // Without a reply in a complete answer a result would be requested forever.
                    for index in group.0 {
                        if uncalibrated(self, index) {
                            self.end_result(
                                index,
                                Some(Outcome::Failed("the worker sent no reply about it".to_owned())),
                            );
                        }
                    }
                }
            }
            if self.out_of_time() {
                return Err(EndReason::TimeLimit);
            }
        }
    }

    /// Postpones uncalibrated results to a later part. False if there is nothing else to measure in this one.
    fn put_off(&mut self, uncalibrated: impl Fn(&Self, usize) -> bool) -> bool {
        let all = 0..self.run.results.len();
        let (later, now): (Vec<usize>, Vec<usize>) =
            all.filter(|index| self.active(*index)).partition(|index| uncalibrated(self, *index));
        if now.is_empty() {
            return false;
        }
        later.into_iter().for_each(|index| self.progress[index].in_part = false);
        true
    }

    fn learn(&mut self) {
        let now = self.elapsed();
        self.quality.learn(&mut self.run, now);
    }

    fn measure_rounds(&mut self) -> Result<(), EndReason> {
        loop {
            let began = self.elapsed();
            self.schedule.begin_round(began);
            let round = self.run.session.rounds;
            let mut groups = self.groups(Self::active);
            if groups.is_empty() {
                return Ok(());
            }
            if self.out_of_time() {
                let over = self.progress.iter().all(|progress| progress.ended);
                return if over { Ok(()) } else { Err(EndReason::TimeLimit) };
            }
            let active = groups.iter().map(|group| group.0.len()).sum();
            self.observer.on_event(&MeasureEvent::Round { number: round + 1, active });
            let mut until = self.run.plan.time_limit.map(|limit| limit + LATE);
            if let Some(limit) = self.limit_to_spend() {
                until = Some(limit);
                groups = self.select(groups, limit);
            }
            schedule::shuffle(&mut groups, self.run.plan.seed, round);
            self.sample_all(&groups, round, until)?;
            self.learn();
            self.judge_rounds(round);
            groups.iter().for_each(|group| self.decide(group));
            self.run.session.rounds = round + 1;
            if self.elapsed() - self.saved >= SAVE_AFTER * self.saving {
                self.save()?;
            }
            let (converged, of) = (self.done(), self.run.results.len());
            let (elapsed, left) = (self.elapsed(), self.left());
            self.observer.on_event(&MeasureEvent::Saved { run: &self.run, converged, of, elapsed, left });
            // Rounds are spaced as planned, up to the limit.
            let next = (began + self.run.plan.spacing).min(self.run.plan.time_limit.unwrap_or(f64::INFINITY));
            let left = next - self.elapsed();
            if converged < of && left > 0.0 {
                self.rest_for(Duration::from_secs_f64(left));
            }
        }
    }

    /// Excludes the rounds from which time was taken. A finished result continues if it loses samples.
    fn judge_rounds(&mut self, round: u32) {
        for (index, reason) in self.quality.judge_rounds(&mut self.run, round) {
            let key = self.key(index);
            self.observer.on_event(&MeasureEvent::Repeated { key: &key, reason: reason.to_string() });
            self.progress[index].ended = false;
            self.decide(&SampleGroup(vec![index]));
        }
    }

    /// The groups of a round of a limited run.
    fn select(&mut self, groups: Vec<SampleGroup>, limit: f64) -> Vec<SampleGroup> {
        let left = limit - self.elapsed();
        let candidates: Vec<Candidate> = groups.iter().map(|group| self.candidate(group)).collect();
        let chosen = self.schedule.select(&candidates, limit, left);
        if chosen.is_empty() {
            // The time left is too short for any of them.
            self.progress.iter_mut().for_each(|progress| progress.tightens = false);
        }
        chosen.into_iter().map(|at| groups[at].clone()).collect()
    }

    fn candidate(&self, group: &SampleGroup) -> Candidate {
        let first = group.0[0];
        let (made, counted) = (self.run.results[first].samples.len(), self.valid(first));
        // Excluded samples are repeated.
        let seconds = self.progress[first].seconds * made.max(1) as f64 / counted.max(1) as f64;
        let leads = group.0.iter().filter(|index| self.subject.leader(**index).is_none());
        let needed = leads.filter_map(|index| self.needed(*index)).collect();
        let tightens = group.0.iter().all(|index| {
            let checkpoint = self.run.plan.checkpoints.contains(&u32::try_from(self.valid(*index)).unwrap_or(u32::MAX));
            self.progress[*index].tightens && checkpoint
        });
        Candidate { seconds, made, needed, tightens }
    }

    /// Expected number of further samples until a result converges. One that tightens goes on to the next checkpoint:
    /// between two it may be outside its target at the level of that many samples.
    fn needed(&self, index: usize) -> Option<usize> {
        if self.progress[index].tightens {
            return Some(self.to_next_checkpoint(index)).filter(|samples| *samples > 0);
        }
        let made = self.valid(index);
        let first = self
            .run
            .plan
            .checkpoints
            .first()
            .map(|checkpoint| *checkpoint as usize)
            .filter(|checkpoint| made < *checkpoint);
        first.or(self.progress[index].expected)?.checked_sub(made).filter(|samples| *samples > 0)
    }

    /// Seconds left if every result finishes at its next checkpoint; unmeasured results count with the mean duration of
    /// the others. With a limit, results use its time until they have all their samples.
    fn left(&self) -> f64 {
        let known: Vec<f64> =
            self.progress.iter().map(|progress| progress.seconds).filter(|seconds| *seconds > 0.0).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let groups = self.groups(|session, index| !session.progress[index].ended);
        let limit = self.run.plan.time_limit;
        let last = self.run.plan.checkpoints.last().map_or(0, |last| *last as usize);
        let samples = |group: &SampleGroup| {
            let of_result = |index: &usize| match limit {
                Some(_) => last.saturating_sub(self.valid(*index)),
                None => self.to_next_checkpoint(*index),
            };
            group.0.iter().map(of_result).max().unwrap_or(0) as f64
        };
        let of_group = |group: &SampleGroup| {
            let seconds = self.progress[group.0[0]].seconds;
            samples(group) * if seconds > 0.0 { seconds } else { mean }
        };
        let rounds = groups.iter().map(samples).fold(0.0, f64::max);
        let left = groups.iter().map(of_group).sum::<f64>().max(rounds * self.run.plan.spacing);
        limit.map_or(left, |limit| left.min((limit - self.elapsed()).max(0.0)))
    }
}
