//! Samples without a clock: seeded noise, scripted failures, and a log of the requests in order.

use std::collections::HashMap;
use std::time::Duration;

use model::{BenchmarkResult, Invalid, Placement, ResultKey, Sample, TakenTime, Topology};
use stats::simulate::{Noise, generator};

use super::{Description, Host, SampleError, Stopper, Subject};
use crate::outside::OutsideCounters;
use crate::worker::{Purpose, Reply, Task, WorkerStep};

/// Behaviour of a simulated result.
#[derive(Debug, Clone)]
pub struct MockResult {
    /// Distribution of the values of its samples.
    pub noise: Noise,
    /// Seconds of a sample.
    pub seconds: f64,
    /// Seconds of its calibration.
    pub calibration: f64,
    /// Why it cannot be measured, if so.
    pub not_measured: Option<String>,
    /// Steps with it, from 0 and the calibration included, in which it cannot be measured.
    pub not_measured_in: std::ops::Range<usize>,
    /// Sample, from 0, in which the worker crashes.
    pub crashes_at: Option<u32>,
    /// Steps of it alone, from 0 and the calibration included, in which the worker is killed.
    pub killed_in: Vec<usize>,
    /// Samples, from 0, that outside evidence makes invalid.
    pub invalid: Vec<u32>,
}

impl MockResult {
    /// A result without failures, with values around `centre` in its unit.
    #[must_use]
    pub fn stable(centre: f64) -> Self {
        Self {
            noise: Noise::stable(centre),
            seconds: 0.05,
            calibration: 0.0,
            not_measured: None,
            not_measured_in: 0..0,
            crashes_at: None,
            killed_in: Vec::new(),
            invalid: Vec::new(),
        }
    }
}

/// Simulated samples.
pub struct MockSubject {
    results: HashMap<ResultKey, MockResult>,
    /// Behaviour of the results without an entry.
    default: MockResult,
    seed: u64,
    drawn: HashMap<ResultKey, (Vec<Vec<f64>>, u32)>,
    clock: f64,
    log: Vec<WorkerStep>,
    stop_after: Option<usize>,
    taking: Option<Box<TakenOf>>,
    quota_period: Option<Duration>,
    throttled: f64,
    rested: bool,
    rests: usize,
}

/// Time that the hypervisor and a quota take from a sample, by its round and whether the session rested before it.
type TakenOf = dyn Fn(u32, bool) -> [TakenTime; 2];

/// Samples drawn in advance for a result.
const DRAWN_AHEAD: usize = 256;

impl MockSubject {
    /// A subject in which every result behaves like `default`.
    #[must_use]
    pub fn new(seed: u64, default: MockResult) -> Self {
        let (results, drawn) = (HashMap::new(), HashMap::new());
        Self {
            results,
            default,
            seed,
            drawn,
            clock: 0.0,
            log: Vec::new(),
            stop_after: None,
            taking: None,
            quota_period: None,
            throttled: 0.0,
            rested: false,
            rests: 0,
        }
    }

    /// Lets time be taken from samples: stolen and throttled, by round and whether the session rested before.
    #[must_use]
    pub fn taking(mut self, taken: impl Fn(u32, bool) -> [TakenTime; 2] + 'static) -> Self {
        self.taking = Some(Box::new(taken));
        self
    }

    /// Adds a quota with a period.
    #[must_use]
    pub fn under_quota(mut self, period: Duration) -> Self {
        self.quota_period = Some(period);
        self
    }

    /// Number of waits of the session between samples.
    #[must_use]
    pub fn rests(&self) -> usize {
        self.rests
    }

    /// Sets a different behaviour for one result.
    #[must_use]
    pub fn with(mut self, key: ResultKey, result: MockResult) -> Self {
        self.results.insert(key, result);
        self
    }

    /// Requests a stop in the sample after this number.
    #[must_use]
    pub fn stopping_after(mut self, samples: usize) -> Self {
        self.stop_after = Some(samples);
        self
    }

    /// Steps in the order of the requests.
    #[must_use]
    pub fn log(&self) -> &[WorkerStep] {
        &self.log
    }

    fn draw(&mut self, task: &Task, result: &MockResult) -> (Vec<f64>, u32) {
        let key = ResultKey::new(task.benchmark.clone(), task.parameters.clone());
        let seed = self.seed ^ hash(&key.to_string());
        let (drawn, next) = self.drawn.entry(key).or_insert_with(|| {
            (result.noise.batches(DRAWN_AHEAD, task.batches.max(3) as usize, &mut generator(seed)), 0)
        });
        let at = *next;
        *next += 1;
        (drawn[at as usize % DRAWN_AHEAD].clone(), at)
    }

    fn measure(&mut self, step: &WorkerStep, task: &Task, result: &MockResult) -> Result<Reply, SampleError> {
        let (values, at) = self.draw(task, result);
        if result.crashes_at == Some(at) {
            return Err(SampleError::Crashed("exit code 134".to_owned()));
        }
        self.clock += result.seconds;
        let rate = benchmarks::find(&task.benchmark).is_some_and(|benchmark| benchmark.metric.unit.is_rate());
        let nanos = |value: &f64| {
            let seconds = if rate { task.ops as f64 / value } else { value * task.ops as f64 };
            (seconds * 1e9) as u64
        };
        let sample = Sample {
            round: step.round,
            wall: result.seconds,
            value: stats::median(&values).unwrap_or(result.noise.centre),
            nanos: values.iter().map(nanos).collect(),
            warmup: task.warmup,
            steady: true,
            invalid: result.invalid.contains(&at).then(|| Invalid::Misplaced(Placement::default())),
            ..Sample::default()
        };
        let sample = match &self.taking {
            Some(take) => {
                let [stolen, throttled] = take(step.round, std::mem::take(&mut self.rested));
                self.throttled += throttled.seconds;
                Sample { stolen: Some(stolen), throttled: Some(throttled), ..sample }
            }
            None => sample,
        };
        Ok(Reply::Launched { result: task.result, sample: Box::new(sample) })
    }
}

impl Subject for MockSubject {
    fn launch(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, SampleError> {
        self.log.push(step.clone());
        if self.stop_after.is_some_and(|most| self.log.len() > most) {
            stopper.stop();
            return Err(SampleError::Stopped);
        }
        let mut replies = Vec::new();
        for task in &step.tasks {
            let key = ResultKey::new(task.benchmark.clone(), task.parameters.clone());
            let result = self.results.get(&key).unwrap_or(&self.default).clone();
            if let Some(reason) = result.not_measured {
                replies.push(Reply::NotMeasured { result: task.result, reason });
                continue;
            }
            let with = |before: &&WorkerStep| before.tasks.iter().any(|other| other.result == task.result);
            if result.not_measured_in.contains(&(self.log.iter().filter(with).count() - 1)) {
                replies.push(Reply::NotMeasured { result: task.result, reason: "its CPU is offline".to_owned() });
                continue;
            }
            let alone = |before: &&WorkerStep| before.tasks.len() == 1 && before.tasks[0].result == task.result;
            let so_far = self.log.iter().filter(alone).count();
            if step.tasks.len() == 1 && result.killed_in.contains(&(so_far - 1)) {
                return Err(SampleError::Killed("killed by signal 9".to_owned()));
            }
            replies.push(Reply::Prepared {
                result: task.result,
                amount: 1.0,
                variant: None,
                notes: Vec::new(),
                of_all: false,
            });
            replies.push(match step.purpose {
                Purpose::Calibrate => {
                    self.clock += result.calibration;
                    Reply::Calibrated { result: task.result, ops: 1000, nanos: step.batch_nanos }
                }
                Purpose::Measure => self.measure(step, task, &result)?,
            });
        }
        replies.push(Reply::Done);
        Ok(replies)
    }

    fn describe(
        &self,
        result: &BenchmarkResult,
        suite: &str,
        machine: &Topology,
        allowed: &[usize],
    ) -> Result<Description, String> {
        Description::placed(result, suite, machine, allowed)
    }
}

impl Host for MockSubject {
    fn now(&self) -> f64 {
        self.clock
    }

    fn tick(&self) -> u64 {
        1
    }

    fn identity(&self) -> model::Identity {
        model::Identity::default()
    }

    fn rest(&mut self, time: Duration, _: &Stopper) {
        self.clock += time.as_secs_f64();
        self.rested = true;
        self.rests += 1;
    }

    fn outside(&self, _: &[usize]) -> OutsideCounters {
        OutsideCounters {
            throttled: self.taking.as_ref().map(|_| Duration::from_secs_f64(self.throttled)),
            quota_period: self.quota_period,
            ..OutsideCounters::default()
        }
    }
}

/// FNV-1a: the same on every machine and in every version, unlike the standard library's hasher.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
