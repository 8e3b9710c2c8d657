//! One result in a sample.

use benchmarks::{BatchWork, Benchmark, BenchmarkContext, BenchmarkError, Kernel, Recorder, SampleSetting, Trial};
use model::{Invalid, RULES, Sample};

use super::footprint::FootprintTally;
use super::guard::Guard;
use super::reader::SensorReader;
use super::timer::{BatchTimer, counted, untimed_operations};
use super::{Reply, SensorSetting, Task, calibrate};
use crate::decide::{pairs, tails};
use crate::quality::{handed_over, hopeless};

/// Operations that a quantile of 99.9% needs, and those that one of 99% needs.
const FOR_RARE: f64 = 1000.0;
const FEWEST_EACH: f64 = 100.0;
/// Batches in which hardware events are counted.
const COUNTED: u32 = 2;
/// One result in a sample: its trial and its results so far.
pub(super) struct SampleMember {
    benchmark: &'static Benchmark,
    task: Task,
    context: BenchmarkContext,
    trial: Trial,
    guard: Option<Guard>,
    tally: FootprintTally,
    sample: Sample,
    amount: f64,
    began: u64,
    /// Batches (of a difference: pairs) that were recorded.
    made: u32,
    /// Time in batches and the readings around them, nanoseconds.
    spent: u64,
    timer: BatchTimer,
}

impl SampleMember {
    pub(super) fn new(
        benchmark: &'static Benchmark,
        task: Task,
        context: BenchmarkContext,
        trial: Trial,
        setting: Option<&SensorSetting>,
    ) -> Self {
        let amount = match &trial {
            Trial::One(kernel) => kernel.amount(),
            Trial::Paired { work, .. } => work.amount(),
            Trial::Readings(_) => 1.0,
        };
        let (tally, sample) = (FootprintTally::default(), Sample::default());
        let (timer, began) = (BatchTimer::of(setting, &context.used()), kernels::clock::now());
        Self { benchmark, task, context, trial, guard: None, tally, sample, amount, began, made: 0, spent: 0, timer }
    }

    /// A context for the next member of the sample, which shares the preparation of this one.
    pub(super) fn sharer(&self, setting: SampleSetting) -> BenchmarkContext {
        self.context.for_benchmark(setting)
    }

    pub(super) fn prepared(&self) -> Reply {
        Reply::Prepared {
            result: self.task.result,
            amount: self.amount,
            variant: self.context.variant().map(str::to_owned),
            notes: self.context.notes().to_vec(),
            of_all: false,
        }
    }

    pub(super) fn failed(&self, fault: &BenchmarkError) -> Reply {
        Reply::Failed { result: self.task.result, reason: fault.to_string() }
    }

    /// Finds the number of operations of a batch of at least `wanted` nanoseconds.
    pub(super) fn calibrate(&mut self, wanted: u64) -> Reply {
        let rule = self.benchmark.batch;
        let found = match &mut self.trial {
            Trial::One(kernel) => fill(kernel.as_mut(), wanted, rule),
            Trial::Paired { work, .. } => fill(work.as_mut(), wanted, rule),
            Trial::Readings(readings) => {
                let began = kernels::clock::now();
                readings.read().map(|_| (1, kernels::clock::now() - began))
            }
        };
        match found {
            Ok((ops, nanos)) => Reply::Calibrated { result: self.task.result, ops, nanos },
            Err(fault) => self.failed(&fault),
        }
    }

    /// Runs batches that are not recorded, until two successive groups agree or the limit is reached.
    pub(super) fn warm_up(&mut self) -> Result<(), BenchmarkError> {
        let mut nanos = Vec::new();
        let least = self.task.warmup;
        // Too few batches to decide: long operations have the warm-up that time permits.
        self.sample.steady = least < RULES.worker.warmup_batches;
        if least == 0 {
            return Ok(());
        }
        for done in 1..=RULES.worker.most_warmup.max(least) {
            nanos.push(self.run_batch(done as usize - 1)? as f64);
            self.sample.warmup = done;
            if done >= least {
                self.sample.steady |= stats::steady_state::is_steady(&nanos);
                if self.sample.steady || matches!(self.trial, Trial::Readings(_)) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Batches are recorded from here on.
    pub(super) fn begin(&mut self, reader: Option<&mut SensorReader>) -> Result<(), BenchmarkError> {
        if let Some(reader) = self.timer.reader(reader) {
            self.timer.begin(self.context.watched().len(), reader)?;
        }
        self.sample.frequency = frequency(&self.context).map(|before| (before, before));
        self.guard = Some(Guard::begin(&self.context));
        self.tally.begin(self.context.watched().iter().map(|watched| watched.pid));
        Ok(())
    }

    /// Whether it has all batches, or enough clean ones, or will not get them.
    pub(super) fn is_done(&self) -> bool {
        self.made >= self.task.batches || self.has_enough()
    }

    /// One block of a member within a sample; `others` says whether there are other members. A block is one batch or
    /// pair. If others displace its data from the caches, untimed batches restore them before several recorded ones.
    pub(super) fn block(&mut self, others: bool, mut reader: Option<&mut SensorReader>) -> Result<(), BenchmarkError> {
        let lead_in = if others { self.lead_in() } else { 0 };
        let recorded = if lead_in > 0 { RULES.worker.turn_batches.max(lead_in) } else { 1 };
        if self.is_done() {
            return Ok(());
        }
        for _ in 0..lead_in {
            self.run_batch(0)?;
        }
        for _ in 0..recorded {
            if !self.is_done() {
                self.batch(reader.as_deref_mut())?;
            }
        }
        Ok(())
    }

    /// Number of its batches that replace everything in the caches.
    fn lead_in(&self) -> u32 {
        let Trial::One(kernel) = &self.trial else { return 0 };
        let moved = kernel.displaces() * self.task.ops;
        let cache = if self.task.cache > 0 { self.task.cache } else { u64::from(RULES.worker.unknown_cache) };
        if moved > 0 { u32::try_from(cache.div_ceil(moved)).unwrap_or(u32::MAX) } else { 0 }
    }

    fn has_enough(&self) -> bool {
        let batches = u32::try_from(self.sample.nanos.len()).unwrap_or(u32::MAX);
        if self.spent as f64 > RULES.worker.longest_timed && batches >= RULES.worker.enough_batches {
            return true;
        }
        self.task.enough > 0 && (self.timer.clean() >= self.task.enough || hopeless(self.timer.clean(), self.made))
    }

    /// Runs one batch, or one pair, between readings of the sensors, and records it.
    pub(super) fn batch(&mut self, reader: Option<&mut SensorReader>) -> Result<(), BenchmarkError> {
        let reader = self.timer.reader(reader);
        let began = kernels::clock::now();
        let (nanos, ops) = self.run_recorded(self.sample.nanos.len() / 2, reader)?;
        self.made += 1;
        self.spent += kernels::clock::now() - began;
        self.timer.note_batch(&nanos);
        self.sample.nanos.extend(nanos);
        self.sample.ops.extend(ops);
        Ok(())
    }

    /// Reads the distance again, then runs null batches of equal length, unless the sample only tightens an interval.
    /// Their clean share is that of readings without work in between.
    pub(super) fn null_batches(&mut self, mut reader: Option<&mut SensorReader>) -> Result<(), BenchmarkError> {
        if let Some(reader) = self.timer.reader(reader.as_deref_mut()) {
            self.timer.measure_distances(reader)?;
        }
        let shortest = self.sample.nanos.iter().min().copied().filter(|_| self.task.full);
        let short = shortest.filter(|nanos| *nanos as f64 <= RULES.quality.longest_batch);
        let (Some(reader), Some(nanos)) = (self.timer.reader(reader), short) else { return Ok(()) };
        self.timer.null_batches(reader, nanos)
    }

    pub(super) fn end(&mut self) -> Result<(), BenchmarkError> {
        let spoilt = handed_over(self.trial.handed_over(), self.sample.warmup + self.made);
        self.count_events()?;
        self.tally.end();
        if let Some(guard) = self.guard.take() {
            guard.end(&self.context, &mut self.sample);
        }
        let throttled = self.trial.throttled().map(Invalid::DeviceThrottled);
        self.sample.invalid = self.sample.invalid.take().or(spoilt).or(throttled);
        if let (Some((_, after)), Some(now)) = (&mut self.sample.frequency, frequency(&self.context)) {
            *after = now;
        }
        self.sample.footprint = self.tally.footprint();
        self.sample.value = self.value().ok_or_else(|| BenchmarkError::new("its batches gave no finite value"))?;
        Ok(())
    }

    /// Runs further batches, untimed, in which hardware events are counted.
    fn count_events(&mut self) -> Result<(), BenchmarkError> {
        if !self.tally.count_events() {
            return Ok(());
        }
        for pair in 0..COUNTED as usize {
            let readings = self.sample.readings.len();
            self.run_recorded(pair, None)?;
            self.sample.readings.truncate(readings);
        }
        Ok(())
    }

    /// Times single operations, if the benchmark supports it.
    pub(super) fn time_each(&mut self) -> Result<(), BenchmarkError> {
        let readings = match &mut self.trial {
            Trial::One(kernel) if self.task.full => {
                let mut record = Recorder::with_capacity(single_operations(&self.sample.nanos, &self.sample.ops));
                kernel.each(&mut record)?;
                record.nanos().iter().map(|nanos| self.benchmark.metric.model().value(1.0, *nanos as f64)).collect()
            }
            Trial::Readings(readings) if readings.distribution() => self.sample.readings.clone(),
            _ => Vec::new(),
        };
        self.sample.quantiles = tails::of_readings(&readings, self.benchmark.metric.model().better);
        Ok(())
    }

    pub(super) fn launched(&mut self, round: u32, setting: Option<&SensorSetting>) -> Reply {
        let mut sample = std::mem::take(&mut self.sample);
        sample.sensors = setting.and_then(|setting| self.timer.sensors(setting));
        if sample.ops.iter().all(|ops| *ops == self.task.ops) {
            sample.ops.clear();
        }
        sample.round = round;
        sample.wall = (kernels::clock::now() - self.began) as f64 * 1e-9;
        Reply::Launched { result: self.task.result, sample: Box::new(sample) }
    }

    /// Median batch in the unit of the result; of a pair the median difference.
    fn value(&self) -> Option<f64> {
        let metric = self.benchmark.metric.model();
        let values: Vec<f64> = match self.trial {
            Trial::Readings(_) => self.sample.readings.clone(),
            Trial::One(_) => {
                let batches = self.sample.batches(self.task.ops).into_iter();
                batches.map(|(ops, nanos)| metric.value(ops as f64 * self.amount, nanos as f64)).collect()
            }
            Trial::Paired { .. } => {
                pairs::difference(&self.sample, &metric, self.task.ops, self.amount).into_iter().collect()
            }
        };
        stats::median(&values).filter(|value| value.is_finite())
    }

    /// Runs one batch, or the pair of this number, that is not recorded; returns its time.
    fn run_batch(&mut self, pair: usize) -> Result<u64, BenchmarkError> {
        let ops = self.task.ops;
        match &mut self.trial {
            Trial::One(kernel) => Ok(run_batch(kernel.as_mut(), ops)?.0),
            Trial::Paired { work, overhead } => {
                let pair = in_order(pair, (work, overhead), |kernel, _| run_batch(kernel, ops))?;
                Ok(pair.iter().map(|(nanos, _)| nanos).sum())
            }
            Trial::Readings(readings) => {
                let began = kernels::clock::now();
                readings.read()?;
                Ok(kernels::clock::now() - began)
            }
        }
    }

    /// Runs one batch, or the pair of this number, and records it.
    fn run_recorded(
        &mut self,
        pair: usize,
        mut reader: Option<&mut SensorReader>,
    ) -> Result<(Vec<u64>, Vec<u64>), BenchmarkError> {
        let (ops, rule, parties) = (self.task.ops, self.benchmark.batch, self.context.watched().len());
        let (tally, timer) = (&mut self.tally, &mut self.timer);
        match &mut self.trial {
            Trial::One(kernel) => {
                let untimed = untimed_operations(kernel.as_ref(), ops, rule, parties);
                let (nanos, work) = timer.counted(kernel.as_mut(), [ops, untimed], Some(tally), reader)?;
                Ok((vec![nanos], vec![work.ops]))
            }
            Trial::Paired { work, overhead } => {
                let pair = in_order(pair, (work, overhead), |kernel, is_work| {
                    let untimed = untimed_operations(kernel, ops, rule, parties);
                    timer.counted(kernel, [ops, untimed], is_work.then_some(&mut *tally), reader.as_deref_mut())
                })?;
                Ok(pair.iter().map(|(nanos, work)| (*nanos, work.ops)).unzip())
            }
            Trial::Readings(readings) => {
                let before = tally.moment();
                let found = readings.read()?;
                let after = tally.moment();
                tally.add(before, after, found.len() as u64);
                self.sample.readings.extend(found);
                Ok((Vec::new(), Vec::new()))
            }
        }
    }
}

/// Runs both kernels of a pair in the order for its number, and returns their results in the order of time.
fn in_order<T>(
    pair: usize,
    (work, overhead): (&mut Box<dyn Kernel>, &mut Box<dyn Kernel>),
    mut run_batch: impl FnMut(&mut dyn Kernel, bool) -> Result<T, BenchmarkError>,
) -> Result<[T; 2], BenchmarkError> {
    if model::work_first(pair) {
        Ok([run_batch(work.as_mut(), true)?, run_batch(overhead.as_mut(), false)?])
    } else {
        Ok([run_batch(overhead.as_mut(), false)?, run_batch(work.as_mut(), true)?])
    }
}

fn run_batch(kernel: &mut dyn Kernel, ops: u64) -> Result<(u64, BatchWork), BenchmarkError> {
    counted(kernel, ops, None, None)
}

fn fill(kernel: &mut dyn Kernel, wanted: u64, rule: benchmarks::BatchRule) -> Result<(u64, u64), BenchmarkError> {
    let rounded = |ops: u64, kernel: &dyn Kernel| calibrate::within(ops, kernel.granule(), rule.least, rule.most);
    let mut ops = rounded(1, kernel);
    // The first call includes cold caches and lazy binding, which is little of a long one.
    let (nanos, _) = run_batch(kernel, ops)?;
    if calibrate::is_long(nanos) && nanos >= wanted {
        return Ok((ops, nanos));
    }
    loop {
        let mut nanos = run_batch(kernel, ops)?.0;
        if nanos >= wanted {
            // One disturbed batch must not count as a full one; a very long one is tried only twice.
            nanos = nanos.min(run_batch(kernel, ops)?.0);
            if nanos < 20 * wanted {
                nanos = nanos.min(run_batch(kernel, ops)?.0);
            }
        }
        let more = rounded(calibrate::next(ops, nanos, wanted), kernel);
        if nanos >= wanted || more <= ops {
            return Ok((ops, nanos));
        }
        ops = more;
    }
}

/// Single operations that are timed after the batches of a sample: by the time of one, whether a result states that or
/// a rate.
fn single_operations(nanos: &[u64], ops: &[u64]) -> usize {
    let each: Vec<f64> = nanos.iter().zip(ops).map(|(nanos, ops)| *nanos as f64 / (*ops).max(1) as f64).collect();
    let typical = stats::median(&each).unwrap_or(RULES.worker.single_most).max(100.0);
    let rare = if typical * FOR_RARE <= RULES.worker.single_most { FOR_RARE } else { FEWEST_EACH };
    (RULES.worker.single_nanos / typical).clamp(rare, 4000.0) as usize
}

/// Present frequency of the CPU of the first party, hertz, if the kernel reports it.
fn frequency(context: &BenchmarkContext) -> Option<f64> {
    let cpu = context.cpu(0)?;
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
    let kilohertz: f64 = std::fs::read_to_string(path).ok()?.trim().parse().ok()?;
    Some(kilohertz * 1e3)
}

#[cfg(test)]
mod tests;
