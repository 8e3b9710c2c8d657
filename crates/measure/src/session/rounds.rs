//! The order of launches: every figure is calibrated once, then each round has one launch of every active figure. A
//! plan of thousands of figures is measured part by part, so that an interrupted run has finished figures instead of
//! two launches of each.

use model::Outcome;

use super::group::{self, LaunchGroup};
use super::launches::LaunchNumber;
use super::{EndReason, MeasureSession};
use crate::engine::EngineError;
use crate::event::MeasureEvent;
use crate::step::Purpose;

/// Number of figures measured in the same rounds, plus at most one group of sharers. Large enough that their launches
/// spread over minutes of the machine's drift, small enough that a round takes seconds.
const PART: usize = 100;
/// Share of a time limit after which calibration waits until what is calibrated has been measured: beside much other
/// work all of it takes longer than a short limit, which would leave nothing measured. What takes seconds to prepare
/// waits from half of that on.
const CALIBRATION: f64 = 0.4;
/// Times as long as the last save took, after which a run with short rounds is saved again: a tenth of a second for a
/// large one on a disk that is flushed.
const SAVE_AFTER: f64 = 40.0;

impl MeasureSession<'_> {
    /// Calibrates, then measures round by round until all figures are finished or the run ends otherwise.
    pub(super) fn rounds(&mut self) -> EndReason {
        match self.parts() {
            Ok(()) => EndReason::Complete,
            Err(ending) => {
                // Saves launches since the last save, unless saving has failed.
                if matches!(ending, EndReason::NotSaved(_)) {
                    return ending;
                }
                self.save().err().unwrap_or(ending)
            }
        }
    }

    fn parts(&mut self) -> Result<(), EndReason> {
        self.end_not_measurable();
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

    /// Selects the next figures that have not ended, in the order of the plan; sharers stay together.
    fn begin_part(&mut self) {
        let mut part = Vec::new();
        for group in self.groups(|session, index| !session.progress[index].ended) {
            if part.len() >= PART {
                break;
            }
            part.extend(group.0);
        }
        self.progress.iter_mut().for_each(|progress| progress.in_part = false);
        part.into_iter().for_each(|index| self.progress[index].in_part = true);
    }

    /// Ends figures for which no CPUs could be assigned.
    fn end_not_measurable(&mut self) {
        for index in 0..self.run.figures.len() {
            if super::not_measurable(&self.run.figures[index]) && !self.progress[index].ended {
                self.end_figure(index, None);
            }
        }
    }

    pub(super) fn active(&self, index: usize) -> bool {
        let progress = &self.progress[index];
        progress.in_part && (!progress.ended || progress.refining)
    }

    pub(super) fn groups(&self, wanted: impl Fn(&Self, usize) -> bool) -> Vec<LaunchGroup> {
        group::groups(&self.run.plan.entries, |index| wanted(self, index), |index| self.progress[index].alone)
    }

    fn calibrate(&mut self) -> Result<(), EndReason> {
        let uncalibrated = |session: &Self, index: usize| session.active(index) && session.run.figures[index].ops == 0;
        let of = self.run.figures.len();
        let began = self.elapsed();
        loop {
            // What is cheap first. Groups are rebuilt after each one, because a crash dissolves one.
            let groups = self.groups(uncalibrated).into_iter();
            let Some(group) = groups.min_by_key(|group| self.preparation(group)) else { return Ok(()) };
            let share = self.limit_to_spend().map_or(0.0, |limit| (self.elapsed() - began) / limit);
            let most = if self.preparation(&group).0 { CALIBRATION / 2.0 } else { CALIBRATION };
            if share > most && self.put_off(uncalibrated) {
                return Ok(());
            }
            let key = self.key(group.0[0]);
            let done = of - (0..of).filter(|index| uncalibrated(self, *index)).count();
            self.observer.on_event(&MeasureEvent::Calibrating { key: &key, done, of });
            let step = self.step(Purpose::Calibrate, &group, LaunchNumber::default());
            match self.launch(&step, &group, false) {
                Err(EngineError::Stopped) => return Err(EndReason::Stopped),
                Err(_) => {} // Dissolved: its members are tried one by one. One that was killed is tried again.
                Ok(_) => {
                    self.learn_unshared();
                    self.fail_unanswered(&group, uncalibrated);
                }
            }
            if self.out_of_time() {
                return Err(EndReason::TimeLimit);
            }
        }
    }

    /// How dear it is to prepare a group: a preparation that probes share is, one in which they find what all launches
    /// measure most of all.
    fn preparation(&self, group: &LaunchGroup) -> (bool, bool) {
        let probe = probes::find(&self.run.figures[group.0[0]].probe);
        probe.map_or((false, false), |probe| (probe.batch.batches == Some(1), probe.shares.is_some()))
    }

    /// Leaves what is not calibrated to a later part. False if there is nothing else to measure in this one.
    fn put_off(&mut self, uncalibrated: impl Fn(&Self, usize) -> bool) -> bool {
        let all = 0..self.run.figures.len();
        let (later, now): (Vec<usize>, Vec<usize>) =
            all.filter(|index| self.active(*index)).partition(|index| uncalibrated(self, *index));
        if now.is_empty() {
            return false;
        }
        later.into_iter().for_each(|index| self.progress[index].in_part = false);
        true
    }

    /// Fails a figure without a reply in a complete answer; otherwise it would be requested forever.
    fn fail_unanswered(&mut self, group: &LaunchGroup, wanted: impl Fn(&Self, usize) -> bool) {
        for index in &group.0 {
            if wanted(self, *index) {
                self.end_figure(*index, Some(Outcome::Failed("the worker sent no reply about it".to_owned())));
            }
        }
    }

    fn measure_rounds(&mut self) -> Result<(), EndReason> {
        loop {
            let began = self.note_round();
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
            groups = self.select_round(groups, round);
            group::shuffle(&mut groups, self.run.plan.seed, round);
            let until = self.end_of_round(round);
            self.launch_all(&groups, round, until)?;
            self.learn_unshared();
            self.judge_rounds(round);
            groups.iter().for_each(|group| self.look(group));
            self.run.session.rounds = round + 1;
            if self.elapsed() - self.saved >= SAVE_AFTER * self.saving {
                self.save()?;
            }
            let (converged, of) = (self.done(), self.run.figures.len());
            let (elapsed, left) = (self.elapsed(), self.left());
            self.observer.on_event(&MeasureEvent::Saved { run: &self.run, converged, of, elapsed, left });
            if converged < of {
                self.space_rounds(began);
            }
        }
    }

    pub(super) fn valid(&self, index: usize) -> usize {
        self.run.figures[index].counted().len()
    }

    /// Seconds left if every figure finishes at its next look; for one that was not launched yet, the mean duration of
    /// the others is assumed. Of a run with a limit, which gives figures the time that it has, until they have all
    /// their launches or the limit comes.
    fn left(&self) -> f64 {
        let known: Vec<f64> =
            self.progress.iter().map(|progress| progress.seconds).filter(|seconds| *seconds > 0.0).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let groups = self.groups(|session, index| !session.progress[index].ended);
        let limit = self.run.plan.time_limit;
        let last = self.run.plan.looks.last().map_or(0, |last| *last as usize);
        let launches = |group: &LaunchGroup| {
            let of_figure = |index: &usize| match limit {
                Some(_) => last.saturating_sub(self.valid(*index)),
                None => self.to_next_look(*index),
            };
            group.0.iter().map(of_figure).max().unwrap_or(0) as f64
        };
        let of_group = |group: &LaunchGroup| {
            let seconds = self.progress[group.0[0]].seconds;
            launches(group) * if seconds > 0.0 { seconds } else { mean }
        };
        let rounds = groups.iter().map(launches).fold(0.0, f64::max);
        let left = groups.iter().map(of_group).sum::<f64>().max(rounds * self.run.plan.spacing);
        limit.map_or(left, |limit| left.min((limit - self.elapsed()).max(0.0)))
    }
}
