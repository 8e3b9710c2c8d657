//! The rounds of a run: calibrate, launch, look, save.

mod ending;
mod expected;
mod group;
mod launches;
mod notes;
mod quota;
mod references;
mod refinement;
mod rounds;
mod start;
mod time_budget;
mod unshared_core;

use model::{CpuSet, Figure, FigureKey, Flag, Invalid, NOT_REACHED, Outcome, Run, Topology};

pub use start::RunRequest;

pub use self::ending::{EndReason, RunResult};
use self::group::LaunchGroup;
use self::notes::FigureNotes;
use self::quota::QuotaPacing;
use self::references::ReferenceWatch;
use self::refinement::Refinement;
use self::time_budget::BeyondReach;
use self::unshared_core::CoreLooks;
use crate::engine::{Engine, Stopper};
use crate::event::{MeasureEvent, Observer};
use crate::evidence::may_exclude;
use crate::outside::ConditionsWatch;
use crate::step::Reply;
use crate::{Error, calibrate, document, facts, judge, placement, sizing};

/// Keeps a run document after every round.
pub trait Saver {
    /// Saves the run as it stands.
    ///
    /// # Errors
    /// In one line, why it could not; the run then ends, and what was measured is in the caller's hands.
    fn save(&mut self, run: &Run) -> Result<(), String>;
}

/// A run that is being measured.
pub struct MeasureSession<'a> {
    run: Run,
    progress: Vec<FigureProgress>,
    allowed: Vec<usize>,
    engine: &'a mut dyn Engine,
    observer: &'a mut dyn Observer,
    saver: &'a mut dyn Saver,
    stopper: Stopper,
    conditions: ConditionsWatch,
    quota: QuotaPacing,
    watch: ReferenceWatch,
    beyond_reach: BeyondReach,
    refinement: Refinement,
    looks: CoreLooks,
    /// First of the rounds whose outside evidence was not judged yet.
    first_unjudged: u32,
    /// Engine time at which this part of the session began, and seconds measured in parts before it.
    began: f64,
    before: f64,
    /// When it was last saved, and how long that took, seconds.
    saved: f64,
    saving: f64,
}

/// What the session knows of a figure beside the document.
#[derive(Debug, Clone, Default)]
struct FigureProgress {
    cpus: Vec<usize>,
    /// Bytes of the last-level caches that these reach, where they are known.
    cache: u64,
    batches: u32,
    warmup: u32,
    /// Time of a batch as it was calibrated, nanoseconds.
    nanos: u64,
    ended: bool,
    /// Within its target, and launched on towards that of core figures.
    refining: bool,
    /// Measured now; the others wait for their part of a long plan.
    in_part: bool,
    /// Measured in launches of its own, because a shared one went wrong.
    alone: bool,
    /// Seconds of a launch.
    seconds: f64,
    attempts: u32,
    /// Rounds in a row that ended while a launch of it waited for its core.
    passed_over: u32,
    /// Why a launch of its own was killed, which was made again.
    killed: Option<String>,
    /// Launches in a row that could not be made any more.
    refused: u32,
    notes: FigureNotes,
}

/// Launches in a row that cannot be made, after which no more are tried.
const REFUSALS: u32 = 5;

/// When and how a launch began, and how long it took.
#[derive(Debug, Clone, Copy)]
struct LaunchMoment {
    began: f64,
    seconds: f64,
    awaited: bool,
}

/// What a reader should know of a figure from where it runs and how large it is, before it is measured.
fn remarks(suite: &str, figure: &Figure, machine: &Topology, cpus: &[usize]) -> Vec<String> {
    let Some(probe) = probes::find(&figure.probe) else { return Vec::new() };
    let placed = placement::remark(probe, machine, cpus);
    placed.into_iter().chain(sizing::remarks(suite, probe, &figure.point, machine, cpus)).collect()
}

impl<'a> MeasureSession<'a> {
    /// Measures a run to its end.
    ///
    /// # Errors
    /// Never once it has begun: what goes wrong with a figure is that figure's outcome, and what goes wrong with saving
    /// is the ending.
    pub fn measure(
        order: RunRequest,
        engine: &'a mut dyn Engine,
        observer: &'a mut dyn Observer,
        saver: &'a mut dyn Saver,
        stopper: Stopper,
    ) -> Result<RunResult, Error> {
        let RunRequest { run, allowed, unshared_before } = order;
        let began = engine.now();
        let before = run.session.seconds;
        let progress = vec![FigureProgress::default(); run.figures.len()];
        let outside = engine.outside(&allowed);
        let (quota, first_unjudged) = (QuotaPacing::of(&outside), run.session.rounds);
        let mut session = MeasureSession {
            conditions: ConditionsWatch::from(&run.session.conditions, &allowed, outside),
            watch: ReferenceWatch::knowing(&run, unshared_before, facts::cores_are_alone(&run.machine, &allowed)),
            run,
            progress,
            allowed,
            engine,
            observer,
            saver,
            stopper,
            quota,
            beyond_reach: BeyondReach::default(),
            refinement: Refinement::default(),
            looks: CoreLooks::default(),
            first_unjudged,
            began,
            before,
            saved: before,
            saving: 0.0,
        };
        session.prepare();
        session.begin_references();
        session.look_at_what_was_cut_off();
        let ending = session.rounds();
        Ok(session.finish(ending))
    }

    /// Places every figure; recovers what a resumed run already knows.
    fn prepare(&mut self) {
        let machine = self.run.machine.topology.clone().unwrap_or_else(|| Topology::unknown(&self.allowed));
        let free = facts::free_memory(&self.run.machine);
        for index in 0..self.run.figures.len() {
            let figure = &mut self.run.figures[index];
            let progress = &mut self.progress[index];
            let placed = self.engine.place(figure, &machine, &self.allowed);
            match placed.and_then(|cpus| sizing::lacking(&figure.point, free).map_or(Ok(cpus), Err)) {
                Ok(cpus) => {
                    for remark in remarks(&self.run.plan.suite, figure, &machine, &cpus) {
                        if !figure.notes.contains(&remark) {
                            figure.notes.push(remark.clone());
                        }
                        progress.notes.remark(remark);
                    }
                    progress.cache = machine.last_level_bytes(&CpuSet::from(cpus.as_slice())).unwrap_or(0);
                    progress.cpus = cpus;
                }
                Err(reason) => {
                    figure.outcome = Outcome::Unfit(reason);
                    figure.flags.clear();
                }
            }
            if let Some(last) = figure.launches.last() {
                let paired = probes::find(&figure.probe).is_some_and(|probe| probe.paired);
                let batches = if paired { last.sides(1).0.len().next_multiple_of(2) } else { last.nanos.len() };
                progress.batches = u32::try_from(batches.max(1)).unwrap_or(u32::MAX);
                progress.nanos = last.nanos.iter().min().copied().unwrap_or(0);
                progress.warmup = last.warmup.min(8);
                progress.seconds = last.wall;
            }
            let reached = !figure.flags.contains(&Flag::Unfinished);
            progress.ended = reached && !figure.launches.is_empty() || not_measurable(figure);
        }
        for index in 0..self.run.figures.len() {
            if let Some(leader) = self.engine.leader(index) {
                self.progress[index].ended = self.progress[leader].ended;
            }
        }
        self.observer.on_event(&MeasureEvent::Began(&self.run));
    }

    fn key(&self, index: usize) -> FigureKey {
        self.run.figures[index].key()
    }

    fn elapsed(&self) -> f64 {
        self.before + self.engine.now() - self.began
    }

    fn out_of_time(&self) -> bool {
        self.run.plan.time_limit.is_some_and(|limit| self.elapsed() >= limit)
    }

    fn done(&self) -> usize {
        self.progress.iter().filter(|progress| progress.ended).count()
    }

    /// A figure that will not be measured any further.
    fn end_figure(&mut self, index: usize, outcome: Option<Outcome>) {
        if let Some(outcome) = outcome {
            let figure = &mut self.run.figures[index];
            figure.outcome = outcome;
            figure.flags.retain(|flag| *flag != Flag::Unfinished);
        }
        self.progress[index].ended = true;
        let (key, done, of) = (self.key(index), self.done(), self.run.figures.len());
        self.observer.on_event(&MeasureEvent::Finished { key: &key, done, of });
    }

    /// Takes a reply in. False when it is a launch that does not count.
    fn take(&mut self, reply: Reply, moment: LaunchMoment) -> bool {
        let known = |figure: usize| figure < self.run.figures.len();
        match reply {
            Reply::Prepared { figure, amount, variant, notes, of_all } if known(figure) => {
                let measured = &mut self.run.figures[figure];
                measured.amount = amount;
                measured.variant = variant.or(measured.variant.take());
                let said = &mut self.progress[figure].notes;
                measured.notes = if of_all { said.replace(notes) } else { said.take(notes) };
                measured.notes.extend(self.progress[figure].killed.clone());
                self.note_part_of_the_cpus(figure);
            }
            Reply::Noted { figure, note } if known(figure) => {
                let notes = &mut self.run.figures[figure].notes;
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
            Reply::Abandoned { figure } if known(figure) => self.end_figure(figure, None),
            Reply::Unfit { figure, reason } if known(figure) => self.refuse(figure, reason),
            Reply::Failed { figure, reason } if known(figure) => self.end_figure(figure, Some(Outcome::Failed(reason))),
            Reply::Calibrated { figure, ops, nanos } if known(figure) => {
                let probe = probes::find(&self.run.figures[figure].probe);
                let (rule, paired) = probe.map_or((None, false), |probe| (probe.batch.batches, probe.paired));
                self.run.figures[figure].ops = ops;
                let progress = &mut self.progress[figure];
                progress.batches = calibrate::batches(self.run.plan.batches, nanos, rule, paired);
                progress.warmup = calibrate::warmup(nanos);
                progress.nanos = nanos;
                progress.seconds = moment.seconds;
            }
            Reply::Launched { figure, launch } if known(figure) => {
                let mut launch = *launch;
                (launch.began, launch.awaited) = (moment.began, moment.awaited);
                let first_look = self.first_look();
                // A reason that spoils more than a fifth is the machine. A party on a CPU of its own choice is never,
                // nor are threads that took the CPU when it was offered: the figure would be another one.
                launch.invalid = launch.invalid.filter(|reason| {
                    matches!(reason, Invalid::Misplaced(_) | Invalid::HandedOver { .. })
                        || may_exclude(&self.run.figures[figure], reason, first_look)
                });
                self.progress[figure].seconds = moment.seconds;
                self.take_readings(&launch);
                self.run.figures[figure].launches.push(launch);
                self.weigh(figure);
                let invalid = references::repeats(&self.run.figures[figure]);
                if let Some(invalid) = invalid {
                    let key = self.key(figure);
                    self.observer.on_event(&MeasureEvent::Repeated { key: &key, reason: invalid.to_string() });
                    return false;
                }
                let progress = &mut self.progress[figure];
                (progress.passed_over, progress.refused, progress.attempts) = (0, 0, 0);
            }
            _ => {}
        }
        true
    }

    /// A launch that cannot be made: the figure cannot be measured, or no longer. What was measured before stays, and a
    /// CPU that was away may come back.
    fn refuse(&mut self, index: usize, reason: String) {
        if self.run.figures[index].counted().is_empty() {
            return self.end_figure(index, Some(Outcome::Unfit(reason)));
        }
        self.progress[index].refused += 1;
        if self.progress[index].refused >= REFUSALS {
            self.end_early(index, &format!("no launch could be made any more: {reason}"));
        }
    }

    /// Ends a figure with the launches that it has.
    fn end_early(&mut self, index: usize, since: &str) {
        let (target, tick) = (self.target(index), self.engine.tick());
        let figure = &mut self.run.figures[index];
        figure.notes.push(format!("ended early, since {since}"));
        judge(figure, &self.run.plan, target, tick);
        self.end_figure(index, None);
    }

    /// Judges the figures of a group and ends those that are finished, with the figures that they lead.
    fn look(&mut self, group: &LaunchGroup) {
        let open: Vec<usize> = group.0.iter().copied().filter(|index| !self.progress[*index].ended).collect();
        let tick = self.engine.tick();
        let mut finished = Vec::new();
        for index in &open {
            let target = self.target(*index);
            self.weigh(*index);
            let done = judge(&mut self.run.figures[*index], &self.run.plan, target, tick);
            if done && self.engine.leader(*index).is_none() {
                finished.push(*index);
            }
        }
        finished.into_iter().for_each(|index| self.end_figure(index, None));
        group.0.iter().for_each(|index| self.refine(*index));
        for index in open {
            if self.engine.leader(index).is_some_and(|leader| self.progress[leader].ended) {
                // Launches are made for the leader; what came along has the interval that it has.
                let target = self.target(index);
                judge::end_follower(&mut self.run.figures[index], target);
                self.end_figure(index, None);
            }
        }
    }

    /// Looks at the open figures of a run that is resumed: a stop within a round leaves launches that no look has seen,
    /// and a figure that has all of its launches needs no other.
    fn look_at_what_was_cut_off(&mut self) {
        let begun = |session: &Self, index: usize| {
            !session.progress[index].ended && !session.run.figures[index].launches.is_empty()
        };
        self.groups(begun).iter().for_each(|group| self.look(group));
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
        self.conditions.record_until(&mut self.run, &self.engine.outside(&self.allowed));
    }

    fn finish(mut self, ending: EndReason) -> RunResult {
        self.record_conditions();
        self.conclude_references();
        self.look_last(&ending);
        self.engine.conclude(&mut self.run);
        let (seconds, identity) = (self.elapsed(), self.engine.identity());
        document::close(&mut self.run, seconds, ending == EndReason::Complete, identity);
        self.observer.on_event(&MeasureEvent::Ended(&self.run));
        RunResult { run: self.run, ending }
    }
}

/// Whether a figure was found unfit or failed, rather than not reached.
fn not_measurable(figure: &Figure) -> bool {
    match &figure.outcome {
        Outcome::Unfit(reason) => reason != NOT_REACHED && !figure.flags.contains(&Flag::Unfinished),
        Outcome::Failed(_) => true,
        _ => false,
    }
}
