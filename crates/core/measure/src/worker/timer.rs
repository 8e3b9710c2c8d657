//! Readings of the sensors around the batches of a result in a sample, and the timing of each batch between them.

use benchmarks::{BatchRule, BatchWork, BenchmarkError, Kernel};
use model::{RULES, SampleSensors, SensorLengths};

use super::footprint::FootprintTally;
use super::reader::{BatchEvidence, SensorReader, ThreadMoment};
use super::{SensorSetting, calibrate};
use crate::quality::CleanRule;

/// Readings around the batches of a result; empty if no sensors are read.
#[derive(Default)]
pub(super) struct BatchTimer {
    /// CPUs on which the sensors are read.
    cpus: Vec<usize>,
    evidence: BatchEvidence,
    rule: Option<CleanRule>,
    lengths: SensorLengths,
    /// Whether the timing thread is the only party.
    alone: bool,
    /// Clean batches (of a difference: pairs) so far.
    clean: u32,
}

impl BatchTimer {
    /// Of a result that uses these CPUs.
    pub(super) fn of(setting: Option<&SensorSetting>, cpus: &[usize]) -> Self {
        let Some(setting) = setting else { return Self::default() };
        let cpus = SensorReader::cpus(cpus);
        let rule = setting.exclusive_on(&cpus).filter(|exclusive| !exclusive.is_empty()).map(CleanRule::new);
        Self { cpus, rule, lengths: setting.lengths, ..Self::default() }
    }

    /// The reader, if it has CPUs to read.
    pub(super) fn reader<'a>(&self, reader: Option<&'a mut SensorReader>) -> Option<&'a mut SensorReader> {
        reader.filter(|_| !self.cpus.is_empty())
    }

    /// Clean batches (of a difference: pairs) so far.
    pub(super) const fn clean(&self) -> u32 {
        self.clean
    }

    /// Starts the helpers on the CPUs of the other parties.
    pub(super) fn begin(&mut self, others: usize, reader: &mut SensorReader) -> Result<(), BenchmarkError> {
        self.alone = others == 0 && self.cpus.len() == 1;
        reader.help_on(&self.cpus)?;
        self.measure_distances(reader)
    }

    /// How far apart the CPUs are now: the host may move them before the batches have ended.
    pub(super) fn measure_distances(&mut self, reader: &mut SensorReader) -> Result<(), BenchmarkError> {
        if self.cpus.len() > 1 {
            self.evidence.add_distances(reader.distances(&self.cpus)?);
        }
        Ok(())
    }

    /// Records the last batch, or both batches of a pair, with their nanoseconds.
    pub(super) fn note_batch(&mut self, nanos: &[u64]) {
        let Some(rule) = &self.rule else { return };
        let clean = |(back, nanos): (usize, &u64)| self.evidence.is_clean(rule, self.lengths, back, *nanos);
        let all = nanos.iter().rev().enumerate().all(clean);
        self.clean += u32::from(all && !nanos.is_empty());
    }

    /// Runs null batches of a given length between readings.
    pub(super) fn null_batches(&mut self, reader: &mut SensorReader, nanos: u64) -> Result<(), BenchmarkError> {
        self.evidence.add_null(reader.read(&self.cpus)?);
        for _ in 0..RULES.worker.null_batches {
            reader.null_batch(nanos)?;
            self.evidence.add_null(reader.read(&self.cpus)?);
        }
        Ok(())
    }

    /// The readings in the form of the document; `None` if no CPU was read.
    pub(super) fn sensors(&self, setting: &SensorSetting) -> Option<SampleSensors> {
        (!self.cpus.is_empty()).then(|| self.evidence.sensors(setting, &self.cpus))
    }

    /// One batch between two readings; after the first reading some operations are done that are not recorded.
    pub(super) fn counted(
        &mut self,
        kernel: &mut dyn Kernel,
        [ops, untimed]: [u64; 2],
        tally: Option<&mut FootprintTally>,
        reader: Option<&mut SensorReader>,
    ) -> Result<(u64, BatchWork), BenchmarkError> {
        let Some(reader) = reader else { return counted(kernel, ops, tally, None) };
        let before = reader.read(&self.cpus)?;
        reader.worked();
        if untimed > 0 {
            counted(kernel, untimed, None, None)?;
        }
        // Several parties yield the CPU to each other: that is part of the work, and no evidence.
        let evidence = self.alone.then_some(&mut self.evidence);
        let found = counted(kernel, ops, tally, evidence)?;
        let after = reader.read(&self.cpus)?;
        self.evidence.add_readings(before, after);
        Ok(found)
    }
}

/// Number of untimed operations right after a reading: they restore the contents of caches and predictors that the
/// reading displaced, and wake a waiting party. Zero if they would take too long.
pub(super) fn untimed_operations(kernel: &dyn Kernel, ops: u64, rule: BatchRule, parties: usize) -> u64 {
    let least = calibrate::within(1, kernel.granule(), rule.least, rule.most);
    let short = least as f64 <= RULES.worker.settling * ops as f64 || (parties > 0 && least * 2 <= ops);
    if short { least } else { 0 }
}

/// One batch: reset, clock, work, clock, check.
pub(super) fn counted(
    kernel: &mut dyn Kernel,
    ops: u64,
    tally: Option<&mut FootprintTally>,
    evidence: Option<&mut BatchEvidence>,
) -> Result<(u64, BatchWork), BenchmarkError> {
    kernel.ready(ops)?;
    let before = tally.as_ref().and_then(|tally| tally.moment());
    let thread = evidence.is_some().then(ThreadMoment::now);
    kernel.settle();
    let began = kernels::clock::now();
    let work = kernel.batch(ops)?;
    let nanos = kernels::clock::now() - began;
    if let (Some(evidence), Some(thread)) = (evidence, thread) {
        evidence.add_thread(&thread, &ThreadMoment::now(), nanos);
    }
    if let Some(tally) = tally {
        let after = tally.moment();
        tally.add(before, after, work.ops);
    }
    kernel.check(&work)?;
    if work.ops == 0 {
        return Err(BenchmarkError::new("a batch did nothing"));
    }
    Ok((nanos.max(1), work))
}
