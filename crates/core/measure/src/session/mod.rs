//! A run that is being measured: calibrate, sample, decide, save.

mod notes;
mod request;
mod rounds;
mod samples;

use std::time::Duration;

use model::{BenchmarkResult, CpuSet, Flag, NOT_REACHED, Outcome, Plan, RULES, ResultKey, Run, Topology};

pub use self::request::RunRequest;

use self::notes::ResultNotes;
use crate::decide::{self, Goal, Verdict};
use crate::event::{MeasureEvent, Observer};
use crate::outside::ConditionsWatch;
use crate::quality::{self, Quality, ResultClasses};
use crate::schedule::{SampleGroup, Schedule};
use crate::subject::{Description, Stopper, Subject};
use crate::{Error, document, facts, sizing};

/// Keeps a run document after every round.
pub trait Saver {
    /// Saves the run in its present state.
    ///
    /// # Errors
    /// The error in one line. The run then ends, and the caller has the results.
    fn save(&mut self, run: &Run) -> Result<(), String>;
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    /// Every result is finished.
    Complete,
    /// Time was up.
    TimeLimit,
    /// A stop was requested.
    Stopped,
    /// It could not be saved.
    NotSaved(String),
}

/// A run that ended.
#[derive(Debug)]
pub struct RunResult {
    /// The run document.
    pub run: Run,
    /// Why it ended.
    pub ending: EndReason,
}

/// A run that is being measured.
pub struct MeasureSession<'a> {
    run: Run,
    progress: Vec<ResultProgress>,
    allowed: Vec<usize>,
    subject: &'a mut dyn Subject,
    observer: &'a mut dyn Observer,
    saver: &'a mut dyn Saver,
    stopper: Stopper,
    conditions: ConditionsWatch,
    quality: Quality,
    schedule: Schedule,
    /// Time of the subject at which this part of the session began, and seconds measured in parts before it.
    began: f64,
    before: f64,
    /// When it was last saved, and how long that took, seconds.
    saved: f64,
    saving: f64,
}

/// The session's knowledge of a result that is not in the document.
#[derive(Debug, Clone, Default)]
struct ResultProgress {
    asked: Description,
    /// Bytes of the last-level caches that its CPUs reach, where they are known.
    cache: u64,
    batches: u32,
    warmup: u32,
    /// Time of a batch as it was calibrated, nanoseconds.
    nanos: u64,
    ended: bool,
    /// Samples at which it is expected to have converged, as of its last checkpoint.
    expected: Option<usize>,
    /// Within its target, and launched on for a narrower interval.
    tightens: bool,
    /// Measured now; the others wait for their part of a long plan.
    in_part: bool,
    /// Measured in samples of its own, because a common one failed.
    alone: bool,
    /// Seconds of a sample.
    seconds: f64,
    attempts: u32,
    /// Rounds in a row that ended while a sample of it waited for its core.
    passed_over: u32,
    /// Why a sample of its own was killed and repeated.
    killed: Option<String>,
    /// Consecutive failed samples.
    refused: u32,
    notes: ResultNotes,
}

/// Sets the outcome, flags, quantiles and footprint of a result outside a session from its samples. Returns whether it
/// is finished: within its target, or at the last checkpoint.
pub fn judge(result: &mut BenchmarkResult, plan: &Plan, target: f64, tick: u64) -> bool {
    let asked = Description::of(result);
    let samples = ResultClasses::of(result, &asked).samples(result, &asked);
    let goal = Goal { plan, target, paired: asked.paired, tick };
    let verdict = Verdict::of(result, &samples, quality::flags(result, &samples), goal);
    verdict.apply(result)
}

impl<'a> MeasureSession<'a> {
    /// Measures a run to its end.
    ///
    /// # Errors
    /// Never once it has begun: what goes wrong with a result is that result's outcome, and what goes wrong with saving
    /// is the ending.
    pub fn measure(
        request: RunRequest,
        subject: &'a mut dyn Subject,
        observer: &'a mut dyn Observer,
        saver: &'a mut dyn Saver,
        stopper: Stopper,
    ) -> Result<RunResult, Error> {
        let RunRequest { run, allowed, exclusive_before } = request;
        let (began, before) = (subject.now(), run.session.seconds);
        let outside = subject.outside(&allowed);
        let mut session = MeasureSession {
            quality: Quality::knowing(&run, exclusive_before, &allowed, &outside),
            conditions: ConditionsWatch::from(&run.session.conditions, &allowed, outside),
            progress: vec![ResultProgress::default(); run.results.len()],
            run,
            allowed,
            subject,
            observer,
            saver,
            stopper,
            schedule: Schedule::default(),
            began,
            before,
            saved: before,
            saving: 0.0,
        };
        session.prepare();
        let now = session.elapsed();
        session.quality.begin(&mut session.run, session.subject, now);
        // A stop within a round leaves samples that no checkpoint has seen, and a result that has all of its samples
        // needs no other.
        let begun = |session: &Self, index: usize| {
            !session.progress[index].ended && !session.run.results[index].samples.is_empty()
        };
        session.groups(begun).iter().for_each(|group| session.decide(group));
        let ending = session.rounds();
        Ok(session.finish(ending))
    }

    /// Describes every result; recovers the state of a resumed run.
    fn prepare(&mut self) {
        let machine = self.run.machine.topology.clone().unwrap_or_else(|| Topology::unknown(&self.allowed));
        let free = facts::free_memory(&self.run.machine);
        for (result, progress) in self.run.results.iter_mut().zip(&mut self.progress) {
            let asked = self.subject.describe(result, &self.run.plan.suite, &machine, &self.allowed);
            match asked.and_then(|asked| sizing::lacking(&result.parameters, free).map_or(Ok(asked), Err)) {
                Ok(asked) => {
                    for remark in &asked.remarks {
                        if !result.notes.contains(remark) {
                            result.notes.push(remark.clone());
                        }
                        progress.notes.remark(remark.clone());
                    }
                    progress.cache = machine.last_level_bytes(&CpuSet::from(asked.cpus.as_slice())).unwrap_or(0);
                    progress.asked = asked;
                }
                Err(reason) => {
                    result.outcome = Outcome::NotMeasured(reason);
                    result.flags.clear();
                }
            }
            if let Some(last) = result.samples.last() {
                let paired = progress.asked.paired;
                let batches = if paired { last.sides(1).0.len().next_multiple_of(2) } else { last.nanos.len() };
                progress.batches = u32::try_from(batches.max(1)).unwrap_or(u32::MAX);
                progress.nanos = last.nanos.iter().min().copied().unwrap_or(0);
                progress.warmup = last.warmup.min(RULES.worker.warmup_batches);
                progress.seconds = last.wall;
            }
            let reached = !result.has(Flag::Unfinished);
            progress.ended = reached && !result.samples.is_empty() || not_measurable(result);
        }
        for index in 0..self.run.results.len() {
            if let Some(leader) = self.subject.leader(index) {
                self.progress[index].ended = self.progress[leader].ended;
            }
        }
        self.observer.on_event(&MeasureEvent::Began(&self.run));
    }

    fn key(&self, index: usize) -> ResultKey {
        self.run.results[index].key()
    }

    fn elapsed(&self) -> f64 {
        self.before + self.subject.now() - self.began
    }

    fn out_of_time(&self) -> bool {
        self.run.plan.time_limit.is_some_and(|limit| self.elapsed() >= limit)
    }

    fn done(&self) -> usize {
        self.progress.iter().filter(|progress| progress.ended).count()
    }

    /// The samples of a result that count.
    fn valid(&self, index: usize) -> usize {
        self.run.results[index].counted().len()
    }

    /// Half-width within which a result has converged.
    fn target(&self, index: usize) -> f64 {
        self.run.plan.entries.get(index).map_or(self.run.plan.target, |entry| entry.target)
    }

    /// Samples of a result until its next checkpoint; none after the last.
    fn to_next_checkpoint(&self, index: usize) -> usize {
        let made = self.valid(index);
        self.run
            .plan
            .checkpoints
            .iter()
            .map(|checkpoint| *checkpoint as usize)
            .find(|checkpoint| *checkpoint > made)
            .map_or(0, |checkpoint| checkpoint - made)
    }

    /// Lets time pass, in parts between which the sensors are read.
    fn rest_for(&mut self, time: Duration) {
        let mut left = time;
        while !left.is_zero() && !self.stopper.asked() {
            let part = left.min(Duration::from_millis(100));
            self.subject.rest(part, &self.stopper);
            self.sample();
            left -= part;
        }
    }

    /// Reads the sensors between samples.
    fn sample(&mut self) {
        let now = self.elapsed();
        self.quality.sample(&mut self.run, self.subject, now);
    }

    /// A result that will not be measured any further.
    fn end_result(&mut self, index: usize, outcome: Option<Outcome>) {
        if let Some(outcome) = outcome {
            let result = &mut self.run.results[index];
            result.outcome = outcome;
            result.flags.retain(|flag| *flag != Flag::Unfinished);
        }
        self.progress[index].ended = true;
        let (key, done, of) = (self.key(index), self.done(), self.run.results.len());
        self.observer.on_event(&MeasureEvent::Finished { key: &key, done, of });
    }

    /// Ends a result with the samples that it has.
    fn end_early(&mut self, index: usize, since: &str) {
        self.run.results[index].notes.push(format!("ended early, since {since}"));
        self.verdict(index);
        self.end_result(index, None);
    }

    /// Writes the verdict on a result's samples into it. Returns whether it is finished.
    fn verdict(&mut self, index: usize) -> bool {
        self.quality.classify(&mut self.run, index, &self.progress[index].asked);
        self.decided(index)
    }

    /// The same of samples that are classified.
    fn decided(&mut self, index: usize) -> bool {
        let asked = &self.progress[index].asked;
        let samples = self.quality.samples(&self.run, index, asked);
        let (result, tick) = (&self.run.results[index], self.subject.tick());
        let goal = Goal { plan: &self.run.plan, target: self.target(index), paired: asked.paired, tick };
        let verdict = Verdict::of(result, &samples, quality::flags(result, &samples), goal);
        let passed = self.progress[index].expected.is_some_and(|at| samples.len() > at);
        if passed || self.run.plan.checkpoints.contains(&u32::try_from(samples.len()).unwrap_or(u32::MAX)) {
            self.progress[index].expected = decide::expected(&samples, goal);
        }
        verdict.apply(&mut self.run.results[index])
    }

    /// Decides about the results of a group and ends those that are finished, with the results that they lead.
    fn decide(&mut self, group: &SampleGroup) {
        let open: Vec<usize> = group.0.iter().copied().filter(|index| !self.progress[*index].ended).collect();
        for index in &open {
            if self.verdict(*index) && self.subject.leader(*index).is_none() {
                self.end_result(*index, None);
            }
        }
        group.0.iter().for_each(|index| self.tighten(*index));
        for index in open {
            if self.subject.leader(index).is_some_and(|leader| self.progress[leader].ended) {
                // Samples are made for the leader; what came along has the interval that it has.
                let target = self.target(index);
                decide::end_follower(&mut self.run.results[index], target);
                self.end_result(index, None);
            }
        }
    }

    /// Begins, continues or ends the tightening of a result after a sample. Nothing is decided between two checkpoints:
    /// stopping whenever the interval happens to be narrow would select narrow ones.
    fn tighten(&mut self, index: usize) {
        let (tightens, target) = (self.progress[index].tightens, self.target(index));
        let at_checkpoint = self.run.plan.checkpoints.contains(&u32::try_from(self.valid(index)).unwrap_or(u32::MAX));
        if tightens {
            self.verdict(index);
            let within = self.run.results[index].is_within(target, self.run.plan.level);
            // It was finished at an earlier checkpoint, unless more samples say that it was called too early.
            if at_checkpoint && !within {
                self.progress[index].ended = false;
            } else {
                self.run.results[index].flags.retain(|flag| *flag != Flag::Unfinished);
            }
            if !at_checkpoint {
                return;
            }
        }
        let (result, plan) = (&self.run.results[index], &self.run.plan);
        let long = plan.time_limit.is_some_and(|limit| limit >= RULES.schedule.tighten_limit);
        let settled = self.progress[index].ended && result.is_within(target, plan.level);
        let core = *result.basis() == model::ValueBasis::Cycles && self.subject.leader(index).is_none();
        let more = self.to_next_checkpoint(index) > 0;
        let wide = !at_checkpoint || !decide::is_called(result, RULES.decide.tighten * target);
        self.progress[index].tightens = long && settled && core && more && wide;
    }

    fn save(&mut self) -> Result<(), EndReason> {
        let began = self.elapsed();
        self.run.session.seconds = began;
        self.record_conditions();
        let saved = self.saver.save(&self.run).map_err(EndReason::NotSaved);
        self.saved = self.elapsed();
        self.saving = self.saved - began;
        saved
    }

    fn record_conditions(&mut self) {
        self.conditions.record_until(&mut self.run, &self.subject.outside(&self.allowed));
    }

    fn finish(mut self, ending: EndReason) -> RunResult {
        self.record_conditions();
        let now = self.elapsed();
        if self.quality.end(&mut self.run, self.subject, now) {
            for index in 0..self.run.plan.entries.len().min(self.run.results.len()) {
                if self.run.results[index].sensors.is_some() && !not_measurable(&self.run.results[index]) {
                    self.conclude_result(index);
                }
            }
            let now = self.elapsed();
            self.quality.conclude(&mut self.run, now);
        }
        // The end of the time is a checkpoint too: no value decided when it came, as one may when a person stops a run.
        if ending == EndReason::TimeLimit {
            for index in 0..self.run.plan.entries.len().min(self.run.results.len()) {
                if decide::is_called(&self.run.results[index], self.target(index)) {
                    self.run.results[index].flags.retain(|flag| *flag != Flag::Unfinished);
                }
            }
        }
        self.subject.conclude(&mut self.run);
        let (seconds, identity) = (self.elapsed(), self.subject.identity());
        document::close(&mut self.run, seconds, ending == EndReason::Complete, identity);
        self.observer.on_event(&MeasureEvent::Ended(&self.run));
        RunResult { run: self.run, ending }
    }

    /// Decides about a result with the final ratio of the exclusive core, at the clock of the whole session.
    fn conclude_result(&mut self, index: usize) {
        let unable = self.run.results[index].has(Flag::CannotConverge);
        self.quality.conclude_result(&mut self.run, index, &self.progress[index].asked);
        self.decided(index);
        let (target, result) = (self.target(index), &mut self.run.results[index]);
        if self.progress[index].ended {
            result.flags.retain(|flag| *flag != Flag::Unfinished);
            if self.subject.leader(index).is_some() {
                decide::end_follower(result, target);
            } else if unable && !result.has(Flag::CannotConverge) {
                result.flags.push(Flag::CannotConverge);
                result.flags.sort_unstable();
            }
        }
    }
}

/// Whether a result was found not measured or failed, rather than not reached.
pub(crate) fn not_measurable(result: &BenchmarkResult) -> bool {
    match &result.outcome {
        Outcome::NotMeasured(reason) => reason != NOT_REACHED && !result.has(Flag::Unfinished),
        Outcome::Failed(_) => true,
        _ => false,
    }
}
