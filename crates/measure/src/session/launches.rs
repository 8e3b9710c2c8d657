//! The launches of a round: their order, their repetition, and what the worker is told.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

use model::{FigureKey, Invalid, Outcome};

use super::group::LaunchGroup;
use super::unshared_core::{Begins, LaunchStart};
use super::{EndReason, LaunchMoment, MeasureSession};
use crate::engine::EngineError;
use crate::event::MeasureEvent;
use crate::seed::mix;
use crate::step::{Purpose, Task, WorkerStep};

/// Least time that a launch is given before it counts as hung.
const LAUNCH_LIMIT: Duration = Duration::from_secs(60);
/// Time that a calibrating launch is given.
const CALIBRATION_LIMIT: Duration = Duration::from_secs(180);
/// Time that a launch of a limited run is given beyond the limit.
const LATE: Duration = Duration::from_secs(30);
/// Attempts at one launch before its round goes on without it.
const ATTEMPTS: u32 = 3;

/// Which launch of its group it is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LaunchNumber {
    pub(super) round: u32,
    /// How often it was excluded in this round before.
    attempt: u32,
}

impl LaunchNumber {
    /// What its seed is drawn from, beside that of the plan: no two launches get the same.
    fn part(self, figure: usize) -> u64 {
        u64::from(self.round) << 32 | u64::from(self.attempt) << 24 | figure as u64
    }
}

impl MeasureSession<'_> {
    /// One launch of every group; members whose launch is excluded are launched again, at most twice, after all others
    /// of the round: what disturbed them mostly outlasts a launch. The first launches of a figure never wait for an
    /// unshared core: they are what was observed. Later ones do, after all else of the round. None begins after
    /// `until`, in seconds since the run began.
    pub(super) fn launch_all(
        &mut self,
        groups: &[LaunchGroup],
        round: u32,
        until: Option<f64>,
    ) -> Result<(), EndReason> {
        let first = LaunchNumber { round, attempt: 0 };
        let mut queue: VecDeque<(LaunchGroup, LaunchNumber)> =
            groups.iter().map(|group| (group.clone(), first)).collect();
        let mut waiting = 0;
        self.begin_looks();
        while let Some((group, number)) = queue.pop_front() {
            if until.is_some_and(|until| self.elapsed() > until) {
                break;
            }
            let again = number.attempt > 0;
            // The launch of another group may have ended some of this one.
            let open = LaunchGroup(group.0.into_iter().filter(|index| self.active(*index)).collect());
            if open.0.is_empty() || again && open.0.iter().all(|index| self.is_moved(*index)) {
                continue;
            }
            let start = match self.begins(&open, again) {
                Begins::At(start) => start,
                Begins::NextRound => continue,
                Begins::Later => {
                    queue.push_back((open, number));
                    waiting += 1;
                    if waiting >= queue.len() {
                        waiting = 0;
                        if !self.pause() {
                            self.pass_over(queue.drain(..).map(|(group, _)| group));
                        }
                    }
                    continue;
                }
            };
            waiting = 0;
            let missing = self.launch_once(&open, number, start)?;
            if number.attempt + 1 == ATTEMPTS {
                self.fail_after_invalid_launches(&missing);
            } else if !missing.0.is_empty() {
                queue.push_back((missing, LaunchNumber { attempt: number.attempt + 1, ..number }));
            }
        }
        Ok(())
    }

    /// One launch of a group. Returns the members whose launch was excluded.
    fn launch_once(
        &mut self,
        group: &LaunchGroup,
        number: LaunchNumber,
        start: LaunchStart,
    ) -> Result<LaunchGroup, EndReason> {
        if self.stopper.asked() {
            return Err(EndReason::Stopped);
        }
        let keys: Vec<FigureKey> = group.0.iter().map(|index| self.key(*index)).collect();
        let launch = u32::try_from(self.valid(group.0[0])).unwrap_or(u32::MAX);
        let look = self.run.plan.looks.iter().copied().find(|look| *look > launch).unwrap_or(launch);
        self.observer.on_event(&MeasureEvent::Launching { keys: &keys, launch: launch + 1, look });
        let mut step = self.step(Purpose::Measure, group, number);
        if let Some(cpu) = start.cpu {
            step.tasks.iter_mut().for_each(|task| task.cpus.fill(cpu));
        }
        let before: Vec<usize> = group.0.iter().map(|index| self.valid(*index)).collect();
        match self.launch(&step, group, start.awaited) {
            Err(EngineError::Stopped) => Err(EndReason::Stopped),
            // Dissolved: its members are launched separately from the next round on.
            Err(_) | Ok(true) => Ok(LaunchGroup(Vec::new())),
            Ok(false) => {
                let members = group.0.iter().zip(before);
                let stale = members.filter(|(index, before)| self.active(**index) && self.valid(**index) == *before);
                Ok(LaunchGroup(stale.map(|(index, _)| *index).collect()))
            }
        }
    }

    /// Without a limit, a machine that invalidates every launch would keep the run going forever.
    fn fail_after_invalid_launches(&mut self, group: &LaunchGroup) {
        for index in &group.0 {
            let last = self.run.figures[*index].launches.last();
            if last.is_some_and(|last| matches!(last.invalid, Some(Invalid::Contended { .. }))) {
                // It is launched again in the next round; that rule has its own limit.
                continue;
            }
            self.progress[*index].attempts += 1;
            if self.progress[*index].attempts >= self.run.plan.looks.first().copied().unwrap_or(10) {
                let last = self.run.figures[*index].launches.iter().rev().find_map(|launch| launch.invalid.as_ref());
                let why = last.map_or_else(|| "unknown".to_owned(), ToString::to_string);
                if self.run.figures[*index].counted().is_empty() {
                    let outcome = Outcome::Failed(format!("all launches were excluded: {why}"));
                    self.end_figure(*index, Some(outcome));
                } else {
                    self.end_early(*index, &format!("no launch counted any more: {why}"));
                }
            }
        }
    }

    pub(super) fn step(&self, purpose: Purpose, group: &LaunchGroup, number: LaunchNumber) -> WorkerStep {
        let plan = &self.run.plan;
        let references = self.reference_setting();
        let task = |index: &usize| {
            let (figure, progress) = (&self.run.figures[*index], &self.progress[*index]);
            let (batches, enough) = self.batches(*index, references.as_ref());
            Task {
                figure: *index,
                probe: figure.probe.clone(),
                point: figure.point.clone(),
                ops: figure.ops,
                batches,
                enough,
                full: !progress.refining,
                warmup: progress.warmup,
                variant: figure.variant.clone(),
                cpus: progress.cpus.clone(),
                cache: progress.cache,
                directory: plan.directory_at(&figure.point).map(PathBuf::from),
            }
        };
        let tasks = group.0.iter().map(task).collect();
        WorkerStep {
            purpose,
            round: number.round,
            seed: mix(plan.seed, number.part(group.0[0])),
            batch_nanos: plan.batch_nanos.max(1000 * self.engine.tick()),
            directory: plan.directory.clone().unwrap_or_else(|| ".".to_owned()).into(),
            allowed: self.allowed.clone(),
            references,
            tasks,
        }
    }

    /// Launches a group and takes in what it answers; `awaited` after a look at its core. `Ok(false)` asks for the
    /// launch to be repeated.
    pub(super) fn launch(
        &mut self,
        step: &WorkerStep,
        group: &LaunchGroup,
        awaited: bool,
    ) -> Result<bool, EngineError> {
        let patience = match step.purpose {
            Purpose::Calibrate => CALIBRATION_LIMIT,
            Purpose::Measure => {
                let expected: f64 = group.0.iter().map(|index| self.progress[*index].seconds).sum();
                LAUNCH_LIMIT.max(Duration::from_secs_f64((20.0 * expected).min(3600.0)))
            }
        };
        let patience = self.limit_to_spend().map_or(patience, |limit| {
            let left = Duration::from_secs_f64((limit - self.elapsed()).max(0.0));
            patience.min(left + LATE)
        });
        self.rest();
        if !awaited {
            self.sample();
        }
        let began = self.elapsed();
        let answer = self.engine.launch(step, patience, &self.stopper);
        let seconds = self.elapsed() - began;
        self.notice_throttling();
        match answer {
            Ok(replies) => {
                let mut valid = true;
                for reply in replies {
                    valid &= self.take(reply, LaunchMoment { began, seconds, awaited });
                }
                Ok(valid)
            }
            Err(EngineError::Stopped) => Err(EngineError::Stopped),
            Err(error) if group.0.len() > 1 => {
                // Any sharer may have caused it: each gets launches of its own.
                group.0.iter().for_each(|index| self.progress[*index].alone = true);
                Err(error)
            }
            // What kills a worker may have nothing to do with the figure: one further attempt, with the reason kept.
            Err(error @ EngineError::Killed(_)) if self.progress[group.0[0]].killed.is_none() => {
                let (figure, said) = (group.0[0], format!("a launch was made again: {error}"));
                self.run.figures[figure].notes.push(said.clone());
                self.progress[figure].killed = Some(said);
                Err(error)
            }
            Err(error) => {
                self.end_figure(group.0[0], Some(Outcome::Failed(error.to_string())));
                Ok(true)
            }
        }
    }
}
