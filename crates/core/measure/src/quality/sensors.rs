//! A session's evidence about its machine: sensors that are calibrated once and read between samples, the exclusive
//! core that follows from all readings, quotas, and the classes of all samples.

use std::time::Duration;

use model::{
    BenchmarkResult, ExclusiveCore, ExclusiveSource, Invalid, RULES, RawReason, Run, Sample, SampleSensors,
    SensorTrack, SessionSensors, ValueBasis,
};

use super::distance::DistanceReadings;
use super::free_core::FreeCores;
use super::taken::{self, RoundEvidence};
use super::{KnownRatio, RatioHistogram, ResultClasses, end, known, timeline};
use crate::decide::Classified;
use crate::outside::OutsideCounters;
use crate::session::not_measurable;
use crate::subject::{Description, Host};
use crate::worker::SensorSetting;

/// A session's evidence on the usability of its samples, beyond the document.
pub(crate) struct Quality {
    /// Whether the sensors are read.
    on: bool,
    pub(super) allowed: Vec<usize>,
    /// CPUs of each class of cores and the ratios read on them.
    cores: Vec<(Vec<u32>, RatioHistogram)>,
    known: Vec<KnownRatio>,
    /// Documented instructions per cycle of this CPU's front end.
    issue_width: Option<f64>,
    /// Whether the machine shows that no other thread shares its cores.
    alone: bool,
    distances: DistanceReadings,
    /// When the sensors were last read between samples, seconds of the session.
    last: f64,
    classes: Vec<ResultClasses>,
    pub(super) free: FreeCores,
    quota: Quota,
    /// First of the rounds whose outside evidence was not judged yet.
    first_unjudged: u32,
}

/// A control group's quota of CPU time, and its effect on the session.
#[derive(Debug, Clone, Default)]
struct Quota {
    /// Period of the quota; `None` if no quota applies.
    period: Option<Duration>,
    /// Time for which it has throttled the session.
    throttled: Duration,
    /// Whether samples wait for it: after it has throttled one.
    waits: bool,
}

/// Batches of a sample: the most, and the number of clean ones that is enough; 0 asks for all of them.
pub(crate) type Batches = (u32, u32);

impl Quality {
    /// With prior knowledge of a run's machine, from earlier runs too.
    pub(crate) fn knowing(run: &Run, learnt_before: Option<f64>, allowed: &[usize], outside: &OutsideCounters) -> Self {
        let earlier = learnt_before.map(|ratio| KnownRatio { ratio, source: ExclusiveSource::EarlierRuns });
        let throttled = outside.throttled.unwrap_or_default();
        Self {
            on: false,
            allowed: allowed.to_vec(),
            cores: Vec::new(),
            known: earlier.into_iter().chain(known::from_table(&run.machine)).collect(),
            issue_width: known::issue_width(&run.machine),
            alone: crate::facts::cores_are_alone(&run.machine, allowed),
            distances: DistanceReadings::default(),
            last: 0.0,
            classes: vec![ResultClasses::default(); run.results.len()],
            free: FreeCores::default(),
            quota: Quota { period: outside.quota_period, throttled, waits: false },
            first_unjudged: run.session.rounds,
        }
    }

    /// Calibrates the sensors, or restores those of the earlier part; does nothing if the plan or the host has none.
    pub(crate) fn begin(&mut self, run: &mut Run, host: &mut dyn Host, now: f64) {
        let Some(cpu) = self.allowed.last().copied().filter(|_| run.plan.sensors) else { return };
        let earlier = run.session.sensors.clone().filter(|earlier| earlier.refused.is_none());
        let found = earlier.map(Ok).or_else(|| {
            let with = |lengths| SessionSensors { lengths, ..SessionSensors::default() };
            host.calibrate_sensors(cpu).map(|found| found.map(with))
        });
        match found {
            None => {}
            Some(Err(refused)) => {
                run.session.sensors = Some(SessionSensors { refused: Some(refused), ..SessionSensors::default() });
            }
            Some(Ok(begun)) => {
                run.session.sensors = Some(begun);
                self.on = true;
                if run.results.iter().all(|result| result.samples.is_empty()) {
                    run.plan.batch_nanos = run.plan.batch_nanos.min(u64::from(RULES.worker.sensor_batch));
                }
                let classes = host.core_classes(&self.allowed);
                self.cores = classes.into_iter().map(|cpus| (cpus, RatioHistogram::default())).collect();
                self.take_up_readings(run);
                self.sample_now(run, host, now, RULES.quality.first_readings);
                self.learn(run, now);
            }
        }
    }

    /// Restores the readings of the earlier part of the run.
    fn take_up_readings(&mut self, run: &Run) {
        let Some(sensors) = &run.session.sensors else { return };
        for (cpu, reading) in sensors.samples.readings() {
            self.add(cpu, sensors.lengths.ratio(reading.clock, reading.contention));
        }
        for sample in run.results.iter().flat_map(|result| &result.samples) {
            self.take_readings(sample);
        }
    }

    fn add(&mut self, cpu: u32, ratio: f64) {
        if let Some((_, ratios)) = self.cores.iter_mut().find(|(cpus, _)| cpus.contains(&cpu)) {
            ratios.add(ratio);
        }
    }

    fn take_readings(&mut self, sample: &Sample) {
        let Some(read) = sample.sensors.as_ref().filter(|_| self.on) else { return };
        self.distances.add(read);
        let SampleSensors { lengths, tracks, null, .. } = read;
        for SensorTrack { cpu, clock, contention } in tracks.iter().chain(null) {
            for (clock, contention) in clock.0.iter().zip(&contention.0) {
                self.add(*cpu, lengths.ratio(*clock, *contention));
            }
        }
    }

    /// Reads the sensors between samples, unless they were read just before.
    pub(crate) fn sample(&mut self, run: &mut Run, host: &mut dyn Host, now: f64) {
        if self.on && now - self.last >= RULES.quality.reading_seconds {
            self.sample_now(run, host, now, RULES.quality.readings);
        }
    }

    fn sample_now(&mut self, run: &mut Run, host: &mut dyn Host, now: f64, readings: u32) {
        self.last = now;
        let (Some(cpu), Some(sensors)) = (self.allowed.last().copied(), &mut run.session.sensors) else {
            return;
        };
        let (millis, number) = ((now * 1e3) as u32, u32::try_from(cpu).unwrap_or(u32::MAX));
        for reading in host.read_sensors(sensors.lengths, cpu, readings as usize) {
            sensors.samples.push(millis, number, reading);
            self.add(number, sensors.lengths.ratio(reading.clock, reading.contention));
        }
    }

    /// Determines the exclusive core and the clock from all readings so far.
    pub(crate) fn learn(&self, run: &mut Run, now: f64) {
        let Some(sensors) = run.session.sensors.as_mut().filter(|_| self.on) else { return };
        let class = |(cpus, ratios): &(Vec<u32>, RatioHistogram)| {
            // Known ratios apply to machines with one class of cores.
            let known = self.known.iter().filter(|_| self.cores.len() == 1).copied();
            let issued = known::from_issue(self.issue_width, sensors, cpus);
            let known: Vec<KnownRatio> = known.chain(issued).collect();
            ExclusiveCore { cpus: cpus.clone(), ..super::learn(ratios, &known, self.alone) }
        };
        let exclusive = self.cores.iter().map(class).collect();
        sensors.exclusive = exclusive;
        sensors.distances = self.distances.usual();
        sensors.clock = timeline::median_clock(sensors, now);
    }

    /// Parameters with which a worker reads the sensors.
    pub(crate) fn setting(&self, run: &Run) -> Option<SensorSetting> {
        let sensors = run.session.sensors.as_ref().filter(|_| self.on)?;
        let exclusive = sensors.exclusive.iter().filter_map(|core| Some((core, core.ratio?)));
        let exclusive = exclusive.flat_map(|(core, ratio)| core.cpus.iter().map(move |cpu| (*cpu as usize, ratio)));
        Some(SensorSetting { lengths: sensors.lengths, exclusive: exclusive.collect() })
    }

    /// Batches of a sample of a result for which `planned` were calibrated, each of `nanos`.
    pub(crate) fn batches(
        result: &BenchmarkResult,
        asked: &Description,
        setting: Option<&SensorSetting>,
        planned: u32,
        nanos: u64,
    ) -> Batches {
        let rules = &RULES.worker;
        let planned = planned.max(1);
        let short = nanos > 0 && nanos as f64 <= RULES.quality.longest_batch && !asked.cpus.is_empty();
        // No readings tell when the batches of such a result are enough.
        let own_work = *result.basis() == ValueBasis::Raw(RawReason::OwnWork);
        let filtered = short && asked.batches.is_none() && !own_work;
        let Some(setting) = setting.filter(|_| filtered) else { return (planned, 0) };
        let known = setting.exclusive_on(&asked.cpus).is_some();
        let most = if known { rules.most_batches } else { rules.unknown_batches };
        let fitting = (rules.filtered_nanos / nanos as f64) as u32;
        let most = most.min(fitting.max(planned)) / if asked.paired { 2 } else { 1 };
        let most = if asked.paired { most.next_multiple_of(2) } else { most };
        let cycles = *result.basis() == ValueBasis::Cycles;
        let enough = if cycles { rules.enough_of_core } else { rules.enough_batches };
        (most, if known { enough.min(most) } else { 0 })
    }

    /// Takes in a sample of a result; returns why it is to be repeated. A result whose samples are at least
    /// `first_checkpoint` may lose a share of them for each reason.
    pub(crate) fn take(
        &mut self,
        run: &mut Run,
        index: usize,
        mut sample: Sample,
        asked: &Description,
    ) -> Option<Invalid> {
        let first = first_checkpoint(run);
        // A reason that spoils more than its share is the machine. Moved parties and threads that took an offered CPU
        // are never such a reason: the result would be another one.
        sample.invalid = sample.invalid.filter(|reason| {
            matches!(reason, Invalid::Misplaced(_) | Invalid::HandedOver { .. })
                || taken::may_exclude(&run.results[index], reason, first)
        });
        self.take_readings(&sample);
        run.results[index].samples.push(sample);
        self.classify(run, index, asked);
        repeats(&run.results[index])
    }

    /// Applies the session's latest evidence: which samples of a result count, and the basis of its value.
    pub(crate) fn classify(&mut self, run: &mut Run, index: usize, asked: &Description) {
        let session = run.session.sensors.as_ref().filter(|_| self.on);
        self.classes[index].update(&mut run.results[index], session, asked);
    }

    /// The samples of a result that count.
    pub(crate) fn samples<'a>(&self, run: &'a Run, index: usize, asked: &Description) -> Vec<Classified<'a>> {
        self.classes[index].samples(&run.results[index], asked)
    }

    /// Evaluates the rounds since the last evaluation, once they are long enough together, and returns the exclusions.
    pub(crate) fn judge_rounds(&mut self, run: &mut Run, round: u32) -> Vec<(usize, Invalid)> {
        let rounds = self.first_unjudged..=round;
        let seen = RoundEvidence::of(&run.results, &rounds);
        if !seen.suffices() {
            return Vec::new();
        }
        self.first_unjudged = round + 1;
        let first = first_checkpoint(run);
        let mut lost = Vec::new();
        for reason in seen.reasons() {
            for (index, result) in run.results.iter_mut().enumerate().filter(|(_, result)| !not_measurable(result)) {
                if taken::exclude(result, &rounds, &reason, first) > 0 {
                    lost.push((index, reason.clone()));
                }
            }
        }
        lost
    }

    /// How long a sample waits for the quota to refill, so that one that is short enough is never throttled.
    pub(crate) fn quota_wait(&self) -> Option<Duration> {
        self.quota.period.filter(|_| self.quota.waits)
    }

    /// Detects after a sample whether the quota throttled it.
    pub(crate) fn notice_throttling(&mut self, host: &dyn Host) {
        if self.quota.period.is_some() && !self.quota.waits {
            let now = host.outside(&self.allowed).throttled.unwrap_or_default();
            self.quota.waits = now > self.quota.throttled;
            self.quota.throttled = now;
        }
    }

    /// Uses the last readings. False if there are none, so that no result changes.
    pub(crate) fn end(&mut self, run: &mut Run, host: &mut dyn Host, now: f64) -> bool {
        if self.on {
            self.sample_now(run, host, now, RULES.quality.readings);
            self.learn(run, now);
        }
        self.on
    }

    /// Concludes a result: with very few clean samples its value is the raw one.
    pub(crate) fn conclude_result(&mut self, run: &mut Run, index: usize, asked: &Description) {
        self.classify(run, index, asked);
        end::conclude_result(&mut run.results[index], run.plan.level, asked.paired);
    }

    /// Adds the results of the sensors themselves.
    pub(crate) fn conclude(&self, run: &mut Run, now: f64) {
        if self.on {
            timeline::conclude(run, now);
        }
    }
}

/// The fewest samples that a result will have.
fn first_checkpoint(run: &Run) -> u32 {
    run.plan.checkpoints.first().copied().unwrap_or(0)
}

/// Why a result's last sample is to be repeated, where it is.
fn repeats(result: &BenchmarkResult) -> Option<Invalid> {
    let reason = result.samples.last()?.invalid.clone()?;
    // Once raw values count, a shared sample needs no replacement.
    let raw = matches!(result.basis(), ValueBasis::Raw(_)) && matches!(reason, Invalid::SharedCore { .. });
    (!raw).then_some(reason)
}
