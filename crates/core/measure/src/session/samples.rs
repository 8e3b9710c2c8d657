//! The samples of a round: their order, their repetition, the worker's steps and its answers.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use model::{Invalid, Outcome, RULES, ResultKey, Sample};

use super::{EndReason, MeasureSession};
use crate::event::MeasureEvent;
use crate::quality::{Next, PAUSE, Quality, Start, Starts, is_moved};
use crate::schedule::SampleGroup;
use crate::seed::mix;
use crate::subject::SampleError;
use crate::worker::{Purpose, Reply, Task, WorkerStep, calibrate};

/// Least time that a sample is given before it counts as hung.
const SAMPLE_LIMIT: Duration = Duration::from_secs(60);
/// Time that a calibrating sample is given.
const CALIBRATION_LIMIT: Duration = Duration::from_secs(180);
/// Time that a sample of a limited run is given beyond the limit.
const LATE: Duration = Duration::from_secs(30);

/// Number of the sample within its group.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SampleNumber {
    round: u32,
    /// How often it was excluded in this round before.
    attempt: u32,
}

impl SampleNumber {
    /// The part of its seed besides the plan's, different for every sample.
    fn part(self, result: usize) -> u64 {
        u64::from(self.round) << 32 | u64::from(self.attempt) << 24 | result as u64
    }
}

/// When and how a sample began, and how long it took.
#[derive(Debug, Clone, Copy)]
struct SampleMoment {
    began: f64,
    seconds: f64,
    waited: bool,
}

impl MeasureSession<'_> {
    /// One sample of every group. Members whose sample is excluded are repeated at most twice, after all others of the
    /// round, because most disturbances outlast a sample. The first samples of a result never wait for an exclusive
    /// core, so they are the raw values. Later ones do, after all else of the round. None begins after `until`, in
    /// seconds since the run began.
    pub(super) fn sample_all(
        &mut self,
        groups: &[SampleGroup],
        round: u32,
        until: Option<f64>,
    ) -> Result<(), EndReason> {
        let first = SampleNumber { round, attempt: 0 };
        let mut queue: VecDeque<(SampleGroup, SampleNumber)> =
            groups.iter().map(|group| (group.clone(), first)).collect();
        let (mut waiting, mut waits) = (0, 0);
        while let Some((group, number)) = queue.pop_front() {
            if until.is_some_and(|until| self.elapsed() > until) {
                break;
            }
            let again = number.attempt > 0;
            // The sample of another group may have ended some of this one.
            let open = SampleGroup(group.0.into_iter().filter(|index| self.active(*index)).collect());
            if open.0.is_empty() || again && open.0.iter().all(|index| is_moved(&self.run.results[*index])) {
                continue;
            }
            let start = match self.starts(&open, again) {
                Starts::At(start) => start,
                Starts::NextRound => continue,
                Starts::Later => {
                    queue.push_back((open, number));
                    waiting += 1;
                    if waiting < queue.len() {
                        continue;
                    }
                    // All that is left waits.
                    (waiting, waits) = (0, waits + 1);
                    if waits <= RULES.quality.waits {
                        self.rest_for(PAUSE);
                    } else {
                        let over = queue.drain(..).flat_map(|(group, _)| group.0);
                        over.for_each(|index| self.progress[index].passed_over += 1);
                    }
                    continue;
                }
            };
            waiting = 0;
            let missing = self.sample_once(&open, number, start)?;
            if number.attempt + 1 == RULES.schedule.attempts {
                self.fail_after_invalid_samples(&missing);
            } else if !missing.0.is_empty() {
                queue.push_back((missing, SampleNumber { attempt: number.attempt + 1, ..number }));
            }
        }
        Ok(())
    }

    fn starts(&mut self, group: &SampleGroup, again: bool) -> Starts {
        let now = self.elapsed();
        let next = |index: &usize| {
            let progress = &self.progress[*index];
            let (cpus, seconds) = (progress.asked.cpus.as_slice(), progress.seconds);
            Next { index: *index, cpus, seconds, passed_over: progress.passed_over }
        };
        let next: Vec<Next<'_>> = group.0.iter().map(next).collect();
        self.quality.starts(&mut self.run, self.subject, now, &next, again)
    }

    /// One sample of a group. Returns the members whose sample was excluded.
    fn sample_once(
        &mut self,
        group: &SampleGroup,
        number: SampleNumber,
        start: Start,
    ) -> Result<SampleGroup, EndReason> {
        if self.stopper.asked() {
            return Err(EndReason::Stopped);
        }
        let keys: Vec<ResultKey> = group.0.iter().map(|index| self.key(*index)).collect();
        let sample = u32::try_from(self.valid(group.0[0])).unwrap_or(u32::MAX);
        let look = self.run.plan.checkpoints.iter().copied().find(|look| *look > sample).unwrap_or(sample);
        self.observer.on_event(&MeasureEvent::Launching { keys: &keys, sample: sample + 1, look });
        let mut step = self.step(Purpose::Measure, group, number);
        if let Some(cpu) = start.cpu {
            step.tasks.iter_mut().for_each(|task| task.cpus.fill(cpu));
        }
        let before: Vec<usize> = group.0.iter().map(|index| self.valid(*index)).collect();
        match self.launch(&step, group, start.waited) {
            Err(SampleError::Stopped) => Err(EndReason::Stopped),
            // Dissolved: its members are launched separately from the next round on.
            Err(_) | Ok(true) => Ok(SampleGroup(Vec::new())),
            Ok(false) => {
                let members = group.0.iter().zip(before);
                let stale = members.filter(|(index, before)| self.active(**index) && self.valid(**index) == *before);
                Ok(SampleGroup(stale.map(|(index, _)| *index).collect()))
            }
        }
    }

    /// Without a limit, a machine that invalidates every sample would keep the run going forever.
    fn fail_after_invalid_samples(&mut self, group: &SampleGroup) {
        for index in &group.0 {
            let last = self.run.results[*index].samples.last();
            if last.is_some_and(|last| matches!(last.invalid, Some(Invalid::SharedCore { .. }))) {
                // It is launched again in the next round; that rule has its own limit.
                continue;
            }
            self.progress[*index].attempts += 1;
            if self.progress[*index].attempts >= self.run.plan.checkpoints.first().copied().unwrap_or(10) {
                let last = self.run.results[*index].samples.iter().rev().find_map(|sample| sample.invalid.as_ref());
                let why = last.map_or_else(|| "unknown".to_owned(), ToString::to_string);
                if self.run.results[*index].counted().is_empty() {
                    let outcome = Outcome::Failed(format!("all samples were excluded: {why}"));
                    self.end_result(*index, Some(outcome));
                } else {
                    self.end_early(*index, &format!("no sample counted any more: {why}"));
                }
            }
        }
    }

    /// A sample of a group for calibration, or for measuring.
    pub(super) fn step(&self, purpose: Purpose, group: &SampleGroup, number: SampleNumber) -> WorkerStep {
        let plan = &self.run.plan;
        let sensors = self.quality.setting(&self.run);
        let task = |index: &usize| {
            let (result, progress) = (&self.run.results[*index], &self.progress[*index]);
            let (asked, nanos) = (&progress.asked, progress.nanos);
            let (batches, enough) = Quality::batches(result, asked, sensors.as_ref(), progress.batches, nanos);
            Task {
                result: *index,
                benchmark: result.benchmark.clone(),
                parameters: result.parameters.clone(),
                ops: result.ops,
                batches,
                enough,
                full: !progress.tightens,
                warmup: progress.warmup,
                variant: result.variant.clone(),
                cpus: asked.cpus.clone(),
                cache: progress.cache,
                directory: plan.directory_at(&result.parameters).map(PathBuf::from),
            }
        };
        let tasks = group.0.iter().map(task).collect();
        WorkerStep {
            purpose,
            round: number.round,
            seed: mix(plan.seed, number.part(group.0[0])),
            batch_nanos: plan.batch_nanos.max(1000 * self.subject.tick()),
            directory: plan.directory.clone().unwrap_or_else(|| ".".to_owned()).into(),
            allowed: self.allowed.clone(),
            sensors,
            tasks,
            patience: self.patience(purpose, group),
        }
    }

    /// Time after which a sample counts as hung.
    fn patience(&self, purpose: Purpose, group: &SampleGroup) -> Duration {
        let patience = match purpose {
            Purpose::Calibrate => CALIBRATION_LIMIT,
            Purpose::Measure => {
                let expected: f64 = group.0.iter().map(|index| self.progress[*index].seconds).sum();
                SAMPLE_LIMIT.max(Duration::from_secs_f64((20.0 * expected).min(3600.0)))
            }
        };
        self.limit_to_spend().map_or(patience, |limit| {
            let left = Duration::from_secs_f64((limit - self.elapsed()).max(0.0));
            patience.min(left + LATE)
        })
    }

    /// Samples a group and stores its answers; `waited` says that its core was checked before. `Ok(false)` asks for a
    /// repetition.
    pub(super) fn launch(&mut self, step: &WorkerStep, group: &SampleGroup, waited: bool) -> Result<bool, SampleError> {
        if let Some(wait) = self.quality.quota_wait() {
            self.rest_for(wait);
        }
        if !waited {
            self.sample();
        }
        let began = self.elapsed();
        let answer = self.subject.launch(step, &self.stopper);
        let seconds = self.elapsed() - began;
        self.quality.notice_throttling(self.subject);
        match answer {
            Ok(replies) => {
                let mut valid = true;
                for reply in replies {
                    valid &= self.take(reply, SampleMoment { began, seconds, waited });
                }
                Ok(valid)
            }
            Err(SampleError::Stopped) => Err(SampleError::Stopped),
            Err(error) if group.0.len() > 1 => {
                // Any member may have caused it: each gets samples of its own.
                group.0.iter().for_each(|index| self.progress[*index].alone = true);
                Err(error)
            }
            // The killer of a worker may have nothing to do with the result: one further attempt, with the reason kept.
            Err(error @ SampleError::Killed(_)) if self.progress[group.0[0]].killed.is_none() => {
                let (result, note) = (group.0[0], format!("a sample was made again: {error}"));
                self.run.results[result].notes.push(note.clone());
                self.progress[result].killed = Some(note);
                Err(error)
            }
            Err(error) => {
                self.end_result(group.0[0], Some(Outcome::Failed(error.to_string())));
                Ok(true)
            }
        }
    }

    /// Takes a reply in. False when it is a sample that does not count.
    fn take(&mut self, reply: Reply, moment: SampleMoment) -> bool {
        let known = |result: usize| result < self.run.results.len();
        match reply {
            Reply::Prepared { result, amount, variant, notes, of_all } if known(result) => {
                let (measured, progress) = (&mut self.run.results[result], &mut self.progress[result]);
                measured.amount = amount;
                measured.variant = variant.or(measured.variant.take());
                measured.notes = if of_all { progress.notes.replace(notes) } else { progress.notes.take(notes) };
                measured.notes.extend(progress.killed.clone());
                let part = crate::part_of_the_cpus(&self.run.machine, &self.allowed);
                if let Some(part) = part.filter(|_| measured.parameters.get("threads") == Some("all")) {
                    measured.notes.push(format!("threads=all is {part}"));
                }
            }
            Reply::Noted { result, note } if known(result) => {
                let notes = &mut self.run.results[result].notes;
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
            Reply::Abandoned { result } if known(result) => self.end_result(result, None),
            Reply::NotMeasured { result, reason } if known(result) => self.refuse(result, reason),
            Reply::Failed { result, reason } if known(result) => self.end_result(result, Some(Outcome::Failed(reason))),
            Reply::Calibrated { result, ops, nanos } if known(result) => {
                self.run.results[result].ops = ops;
                let progress = &mut self.progress[result];
                let (rule, paired) = (progress.asked.batches, progress.asked.paired);
                progress.batches = calibrate::batches(self.run.plan.batches, nanos, rule, paired);
                progress.warmup = calibrate::warmup(nanos);
                progress.nanos = nanos;
                progress.seconds = moment.seconds;
            }
            Reply::Launched { result, sample } if known(result) => {
                let SampleMoment { began, seconds, waited } = moment;
                let sample = Sample { began, waited_for_core: waited, ..*sample };
                self.progress[result].seconds = seconds;
                let asked = &self.progress[result].asked;
                if let Some(invalid) = self.quality.take(&mut self.run, result, sample, asked) {
                    let key = self.key(result);
                    self.observer.on_event(&MeasureEvent::Repeated { key: &key, reason: invalid.to_string() });
                    return false;
                }
                let progress = &mut self.progress[result];
                (progress.passed_over, progress.refused, progress.attempts) = (0, 0, 0);
            }
            _ => {}
        }
        true
    }

    /// A failed sample: the result cannot be measured, or not now. Earlier values stay, and a CPU that was away may
    /// come back.
    fn refuse(&mut self, index: usize, reason: String) {
        if self.run.results[index].counted().is_empty() {
            return self.end_result(index, Some(Outcome::NotMeasured(reason)));
        }
        self.progress[index].refused += 1;
        if self.progress[index].refused >= RULES.schedule.refusals {
            self.end_early(index, &format!("no sample could be made any more: {reason}"));
        }
    }
}
