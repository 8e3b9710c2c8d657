//! Reads the sensors around batches: on the worker's own CPU, and on those of its parties by helpers that otherwise
//! sleep.

use std::time::Duration;

use benchmarks::BenchmarkError;
use kernels::core_sensor::{CoreReading, CoreSensors};
use model::{RULES, SampleSensors, SensorLengths, SensorTrack, SmallSteps};
use os::usage::{Usage, Who};

use super::SensorSetting;
use super::helper::SensorHelper;
use crate::quality::{BatchPlace, CleanRule};

/// Reads the sensors on one or several CPUs, one after the other, so that the readings do not contend.
pub(super) struct SensorReader {
    sensors: CoreSensors,
    helpers: Vec<SensorHelper>,
    /// The last readings and their CPUs, as long as nothing else has run.
    fresh: Option<(Vec<usize>, Vec<CoreReading>)>,
}

impl SensorReader {
    /// A reader with the calibrated lengths of the run; `None` if this machine has no sensors.
    pub(super) fn new(setting: &SensorSetting) -> Option<Self> {
        let sensors = CoreSensors::of(setting.lengths).ok()?;
        Some(Self { sensors, helpers: Vec::new(), fresh: None })
    }

    /// The CPUs that are read for a result: one for each of its parties if they are few, else its own.
    pub(super) fn cpus(parties: &[usize]) -> Vec<usize> {
        let mut distinct: Vec<usize> = Vec::new();
        for cpu in parties {
            if !distinct.contains(cpu) {
                distinct.push(*cpu);
            }
        }
        let read = if distinct.len() > RULES.quality.most_parties as usize { 1 } else { distinct.len() };
        distinct.truncate(read);
        distinct
    }

    /// Starts a helper on each CPU except the first, which is the caller's.
    pub(super) fn help_on(&mut self, cpus: &[usize]) -> Result<(), BenchmarkError> {
        for cpu in cpus.iter().skip(1) {
            if self.helpers.iter().all(|helper| helper.cpu() != *cpu) {
                self.helpers.push(SensorHelper::start(*cpu, self.sensors)?);
            }
        }
        Ok(())
    }

    /// Work has run since: the last readings cannot serve as those before the next batch.
    pub(super) fn worked(&mut self) {
        self.fresh = None;
    }

    /// New readings, or those just taken.
    pub(super) fn read(&mut self, cpus: &[usize]) -> Result<Vec<CoreReading>, BenchmarkError> {
        if let Some((of, readings)) = &self.fresh
            && of == cpus
        {
            return Ok(readings.clone());
        }
        if cpus.len() > 1 {
            let until = kernels::clock::now() + u64::from(RULES.worker.parties_sleep);
            while kernels::clock::now() < until {
                std::hint::spin_loop();
            }
        }
        let mut readings = vec![self.sensors.read()?];
        for cpu in cpus.iter().skip(1) {
            let helper = self.helpers.iter().find(|helper| helper.cpu() == *cpu);
            let reading = helper.and_then(SensorHelper::read);
            readings.push(
                reading.ok_or_else(|| BenchmarkError::new(format!("nothing reads the references on CPU {cpu}")))?,
            );
        }
        self.fresh = Some((cpus.to_vec(), readings.clone()));
        Ok(readings)
    }

    /// Times of the distance sensor between the first of the CPUs, which is the caller's, and each other one,
    /// picoseconds.
    pub(super) fn distances(&mut self, cpus: &[usize]) -> Result<Vec<u32>, BenchmarkError> {
        self.worked();
        let helper = |cpu: &usize| self.helpers.iter().find(|helper| helper.cpu() == *cpu);
        let distance = |cpu: &usize| {
            let found = helper(cpu).and_then(SensorHelper::distance);
            found.ok_or_else(|| BenchmarkError::new(format!("nothing passes a cache line on CPU {cpu}")))
        };
        cpus.iter().skip(1).map(distance).collect()
    }

    /// Waits for `nanos` without accessing memory or the system: a null batch.
    pub(super) fn null_batch(&mut self, nanos: u64) -> Result<(), BenchmarkError> {
        self.worked();
        let until = kernels::clock::now() + nanos;
        while kernels::clock::now() < until {
            self.sensors.read()?;
        }
        Ok(())
    }
}

/// Evidence about every batch of a result in addition to its time.
#[derive(Default)]
pub(super) struct BatchEvidence {
    /// Readings before and after each batch, on each CPU.
    readings: Vec<[Vec<CoreReading>; 2]>,
    null: Vec<Vec<CoreReading>>,
    distances: Vec<u32>,
    switches: Vec<u32>,
    waits: Vec<u32>,
    off_cpu: Vec<u32>,
}

/// Context switches and CPU time of this thread at one moment. The usage reported by the kernel is as old as the last
/// tick, the clock of the thread is not.
pub(super) struct ThreadMoment(Option<(Usage, Duration)>);

impl ThreadMoment {
    pub(super) fn now() -> Self {
        Self(Usage::of(Who::Thread).ok().zip(kernels::clock::thread_cpu().ok()))
    }
}

impl BatchEvidence {
    /// Adds one batch of `nanos` between two moments of its thread.
    pub(super) fn add_thread(&mut self, before: &ThreadMoment, after: &ThreadMoment, nanos: u64) {
        let (Some((before, cpu_before)), Some((after, cpu_after))) = (&before.0, &after.0) else { return };
        let used = after.since(before);
        let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        self.switches.push(small(used.involuntary_switches));
        self.waits.push(small(used.voluntary_switches));
        let cpu = u64::try_from(cpu_after.saturating_sub(*cpu_before).as_nanos()).unwrap_or(u64::MAX);
        self.off_cpu.push(small(nanos.saturating_sub(cpu)));
    }

    pub(super) fn add_readings(&mut self, before: Vec<CoreReading>, after: Vec<CoreReading>) {
        self.readings.push([before, after]);
    }

    /// Whether the batch at distance `back` from the last one, of `nanos`, is clean.
    pub(super) fn is_clean(&self, rule: &CleanRule, lengths: SensorLengths, back: usize, nanos: u64) -> bool {
        let Some(at) = self.readings.len().checked_sub(back + 1) else { return false };
        let from = at.saturating_sub(1);
        let one = |row: &[u32]| SmallSteps(row.get(from..=at).unwrap_or_default().to_vec());
        let flat: Vec<&Vec<CoreReading>> = self.readings[from..=at].iter().flatten().collect();
        let cpus: Vec<usize> = (0..flat[0].len()).collect();
        let near = SampleSensors {
            lengths,
            tracks: tracks(&flat, &cpus),
            switches: one(&self.switches),
            waits: one(&self.waits),
            off_cpu: one(&self.off_cpu),
            ..SampleSensors::default()
        };
        let of = at - from + 1;
        let like = of.checked_sub(2);
        rule.clock_of(&near, BatchPlace { at: of - 1, of, like, nanos }).is_some()
    }

    pub(super) fn add_distances(&mut self, picos: Vec<u32>) {
        self.distances.extend(picos);
    }

    pub(super) fn add_null(&mut self, readings: Vec<CoreReading>) {
        self.null.push(readings);
    }

    /// The readings in the form of the document.
    pub(super) fn sensors(&self, setting: &SensorSetting, cpus: &[usize]) -> SampleSensors {
        let batches = self.readings.len();
        // If nothing ran in between, the reading after a batch is also the one before the next.
        let in_a_row = self.readings.windows(2).all(|two| two[0][1] == two[1][0]);
        let flat: Vec<&Vec<CoreReading>> = if in_a_row {
            self.readings.iter().map(|sides| &sides[0]).chain(self.readings.last().map(|sides| &sides[1])).collect()
        } else {
            self.readings.iter().flatten().collect()
        };
        let complete = |row: &[u32]| if row.len() == batches { row.to_vec() } else { Vec::new() };
        let some = |row: Vec<u32>| SmallSteps(if row.iter().all(|one| *one == 0) { Vec::new() } else { row });
        SampleSensors {
            lengths: setting.lengths,
            tracks: tracks(&flat, cpus),
            switches: some(complete(&self.switches)),
            waits: some(complete(&self.waits)),
            off_cpu: SmallSteps(complete(&self.off_cpu)),
            distances: SmallSteps(self.distances.clone()),
            null: tracks(&self.null.iter().collect::<Vec<_>>(), &cpus[..cpus.len().min(self.null.len())]),
        }
    }
}

fn tracks(readings: &[&Vec<CoreReading>], cpus: &[usize]) -> Vec<SensorTrack> {
    let column = |at: usize, of: fn(&CoreReading) -> u32| {
        SmallSteps(readings.iter().filter_map(|row| row.get(at)).map(of).collect())
    };
    let track = |(at, cpu): (usize, &usize)| SensorTrack {
        cpu: u32::try_from(*cpu).unwrap_or(u32::MAX),
        clock: column(at, |reading| reading.clock_nanos),
        contention: column(at, |reading| reading.contention_nanos),
    };
    cpus.iter().enumerate().map(track).collect()
}
