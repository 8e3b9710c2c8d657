//! The references in a session: calibrated once, read between launches; the unshared core is determined from all
//! readings.

use model::{
    Figure, Flag, Invalid, Launch, LaunchReferences, ObservedReason, ReferenceTrack, SessionReferences, UnsharedCore,
    UnsharedSource, ValueBasis,
};

use super::MeasureSession;
use crate::evidence::mark_preempted;
use crate::judge;
use crate::references::{
    self, DistanceReadings, ENOUGH, ENOUGH_OF_CORE, KnownRatio, LONGEST_NANOS, MOST, RatioHistogram, UNKNOWN,
};
use crate::step::ReferenceSetting;

/// Length of a batch between two readings, nanoseconds.
const BATCH_NANOS: u64 = 200_000;
/// Seconds between two rows of readings outside of launches.
const EVERY: f64 = 0.1;
/// Readings per row.
const ROW: usize = 3;
/// Readings before measuring begins.
const FIRST_ROW: usize = 60;
/// Longest total duration of the filtered batches of a launch, nanoseconds.
const LAUNCH_NANOS: u64 = 50_000_000;

/// State of the references in a session, beyond the document.
#[derive(Default)]
pub(super) struct ReferenceWatch {
    /// Whether the references are read.
    on: bool,
    /// CPUs of each class of cores and the ratios read on them.
    classes: Vec<(Vec<u32>, RatioHistogram)>,
    known: Vec<KnownRatio>,
    /// Documented instructions per cycle of this CPU's front end.
    issue_width: Option<f64>,
    alone: bool,
    distances: DistanceReadings,
    last: f64,
}

impl ReferenceWatch {
    /// With what is known of a run's machine beforehand, by earlier runs also; `alone` means that the machine shows
    /// that no other thread shares its cores.
    pub(super) fn knowing(run: &model::Run, learnt_before: Option<f64>, alone: bool) -> Self {
        let earlier = learnt_before.map(|ratio| KnownRatio { ratio, source: UnsharedSource::EarlierRuns });
        let known = earlier.into_iter().chain(references::from_table(&run.machine)).collect();
        Self { known, issue_width: references::issue_width(&run.machine), alone, ..Self::default() }
    }

    fn add(&mut self, cpu: u32, ratio: f64) {
        if let Some((_, ratios)) = self.classes.iter_mut().find(|(cpus, _)| cpus.contains(&cpu)) {
            ratios.add(ratio);
        }
    }

    fn add_launch(&mut self, references: &LaunchReferences) {
        self.distances.add(references);
        for track in references.tracks.iter().chain(&references.null) {
            let ReferenceTrack { cpu, clock, contention } = track;
            for (clock, contention) in clock.0.iter().zip(&contention.0) {
                self.add(*cpu, references.lengths.ratio(*clock, *contention));
            }
        }
    }
}

impl MeasureSession<'_> {
    /// Calibrates the references, or restores those of the earlier part; does nothing if the plan or the engine has
    /// none.
    pub(super) fn begin_references(&mut self) {
        let Some(cpu) = self.allowed.last().copied().filter(|_| self.run.plan.references) else { return };
        let earlier = self.run.session.references.clone().filter(|earlier| earlier.refused.is_none());
        let found = match earlier {
            Some(earlier) => Some(Ok(earlier)),
            None => self
                .engine
                .calibrate_references(cpu)
                .map(|found| found.map(|lengths| SessionReferences { lengths, ..SessionReferences::default() })),
        };
        match found {
            None => {}
            Some(Err(refused)) => {
                self.run.session.references =
                    Some(SessionReferences { refused: Some(refused), ..SessionReferences::default() });
            }
            Some(Ok(begun)) => {
                self.run.session.references = Some(begun);
                self.watch.on = true;
                if self.run.figures.iter().all(|figure| figure.launches.is_empty()) {
                    self.run.plan.batch_nanos = self.run.plan.batch_nanos.min(BATCH_NANOS);
                }
                let classes = self.engine.core_classes(&self.allowed);
                self.watch.classes = classes.into_iter().map(|cpus| (cpus, RatioHistogram::default())).collect();
                self.take_up_readings();
                self.sample_now(FIRST_ROW);
                self.learn_unshared();
            }
        }
    }

    /// Restores the readings of the earlier part of the run.
    fn take_up_readings(&mut self) {
        let Some(references) = &self.run.session.references else { return };
        for (cpu, reading) in references.samples.readings() {
            self.watch.add(cpu, references.lengths.ratio(reading.clock, reading.contention));
        }
        for launch in self.run.figures.iter().flat_map(|figure| &figure.launches) {
            if let Some(read) = &launch.references {
                self.watch.add_launch(read);
            }
        }
    }

    /// Reads the references between launches, unless they were read just before.
    pub(super) fn sample(&mut self) {
        if self.watch.on && self.elapsed() - self.watch.last >= EVERY {
            self.sample_now(ROW);
        }
    }

    fn sample_now(&mut self, readings: usize) {
        let now = self.elapsed();
        self.watch.last = now;
        let (Some(cpu), Some(references)) = (self.allowed.last().copied(), &mut self.run.session.references) else {
            return;
        };
        let (millis, cpu_number) = ((now * 1e3) as u32, u32::try_from(cpu).unwrap_or(u32::MAX));
        for reading in self.engine.read_references(references.lengths, cpu, readings) {
            references.samples.push(millis, cpu_number, reading);
            self.watch.add(cpu_number, references.lengths.ratio(reading.clock, reading.contention));
        }
    }

    /// Determines the unshared core and the clock from all readings so far.
    pub(super) fn learn_unshared(&mut self) {
        let now = self.elapsed();
        let (watch, Some(references)) = (&self.watch, &mut self.run.session.references) else { return };
        if !watch.on {
            return;
        }
        let class = |(cpus, ratios): &(Vec<u32>, RatioHistogram)| {
            // Known ratios apply to machines with one class of cores.
            let known = watch.known.iter().filter(|_| watch.classes.len() == 1).copied();
            let issued = references::from_issue(watch.issue_width, references, cpus);
            let known: Vec<KnownRatio> = known.chain(issued).collect();
            UnsharedCore { cpus: cpus.clone(), ..references::learn(ratios, &known, watch.alone) }
        };
        references.unshared = watch.classes.iter().map(class).collect();
        references.distances = watch.distances.usual();
        references.clock = references::median_clock(references, now);
    }

    /// Parameters with which a worker reads the references.
    pub(super) fn reference_setting(&self) -> Option<ReferenceSetting> {
        let references = self.run.session.references.as_ref().filter(|_| self.watch.on)?;
        let unshared = references.unshared.iter().filter_map(|core| Some((core, core.ratio?)));
        let unshared = unshared.flat_map(|(core, ratio)| core.cpus.iter().map(move |cpu| (*cpu as usize, ratio)));
        Some(ReferenceSetting { lengths: references.lengths, unshared: unshared.collect() })
    }

    /// Most batches of a launch of this figure, and the number of undisturbed ones that is enough.
    pub(super) fn batches(&self, index: usize, setting: Option<&ReferenceSetting>) -> (u32, u32) {
        let progress = &self.progress[index];
        let planned = progress.batches.max(1);
        let short = progress.nanos > 0 && progress.nanos <= LONGEST_NANOS && !progress.cpus.is_empty();
        let probe = probes::find(&self.run.figures[index].probe);
        let (rule, paired) = probe.map_or((None, false), |probe| (probe.batch.batches, probe.paired));
        let basis = self.run.figures[index].basis();
        // No readings tell when the batches of such a figure are enough.
        let own_work = *basis == ValueBasis::Observed(ObservedReason::OwnWork);
        let filtered = short && rule.is_none() && !own_work;
        let Some(setting) = setting.filter(|_| filtered) else { return (planned, 0) };
        let known = setting.unshared_on(&progress.cpus).is_some();
        let most = if known { MOST } else { UNKNOWN };
        let fitting = u32::try_from(LAUNCH_NANOS / progress.nanos).unwrap_or(u32::MAX);
        let most = most.min(fitting.max(planned)) / if paired { 2 } else { 1 };
        let most = if paired { most.next_multiple_of(2) } else { most };
        let enough = if *basis == ValueBasis::Cycles { ENOUGH_OF_CORE } else { ENOUGH };
        (most, if known { enough.min(most) } else { 0 })
    }

    /// Adds the readings of a launch.
    pub(super) fn take_readings(&mut self, launch: &Launch) {
        if let Some(read) = launch.references.as_ref().filter(|_| self.watch.on) {
            self.watch.add_launch(read);
        }
    }

    /// Recomputes the evaluation of the launches of a figure.
    pub(super) fn weigh(&mut self, index: usize) {
        mark_preempted(&mut self.run.figures[index]);
        let Some(references) = self.run.session.references.as_ref().filter(|_| self.watch.on) else { return };
        references::weigh(&mut self.run.figures[index], references);
    }

    /// Judges every figure with the final ratio of the unshared core, all at one clock, and adds the figures of the
    /// readings.
    pub(super) fn conclude_references(&mut self) {
        if !self.watch.on {
            return;
        }
        self.sample_now(ROW);
        self.learn_unshared();
        for index in 0..self.run.plan.entries.len().min(self.run.figures.len()) {
            if self.run.figures[index].references.is_some() && !super::not_measurable(&self.run.figures[index]) {
                self.conclude_figure(index);
            }
        }
        let end = self.elapsed();
        references::conclude(&mut self.run, end);
    }

    fn conclude_figure(&mut self, index: usize) {
        let ended = self.progress[index].ended;
        let kept = |figure: &Figure, flag: Flag| figure.has(flag);
        let unable = kept(&self.run.figures[index], Flag::CannotConverge);
        self.weigh(index);
        references::conclude_figure(&mut self.run.figures[index], self.run.plan.level);
        let target = self.target(index);
        judge(&mut self.run.figures[index], &self.run.plan, target, self.engine.tick());
        let follows = self.engine.leader(index).is_some();
        let figure = &mut self.run.figures[index];
        if ended {
            figure.flags.retain(|flag| *flag != Flag::Unfinished);
            if follows {
                judge::end_follower(figure, target);
            } else if unable && !figure.has(Flag::CannotConverge) {
                figure.flags.push(Flag::CannotConverge);
                figure.flags.sort_unstable();
            }
        }
    }
}

/// Why a figure's last launch is to be repeated, where it is.
pub(super) fn repeats(figure: &Figure) -> Option<Invalid> {
    let reason = figure.launches.last()?.invalid.clone()?;
    // Once contended launches count as observed, one that is contended needs no other.
    let observed = matches!(figure.basis(), ValueBasis::Observed(_)) && matches!(reason, Invalid::Contended { .. });
    (!observed).then_some(reason)
}
