//! Launches without a clock: seeded noise, scripted failures, and a log of the requests in order.

use std::collections::HashMap;
use std::time::Duration;

use model::{Figure, FigureKey, Invalid, Launch, Placement, TakenTime, Topology};
use stats::simulate::{Noise, generator};

use super::{Description, Host, LaunchError, Stopper, Subject};
use crate::outside::OutsideCounters;
use crate::worker::{Purpose, Reply, Task, WorkerStep};

/// Behaviour of a simulated figure.
#[derive(Debug, Clone)]
pub struct MockFigure {
    /// Distribution of the values of its launches.
    pub noise: Noise,
    /// Seconds of a launch.
    pub seconds: f64,
    /// Seconds of its calibration.
    pub calibration: f64,
    /// Why it cannot be measured, if so.
    pub unfit: Option<String>,
    /// Steps with it, from 0 and the calibration included, in which it cannot be measured.
    pub unfit_in: std::ops::Range<usize>,
    /// Launch, from 0, in which the worker crashes.
    pub crashes_at: Option<u32>,
    /// Steps of it alone, from 0 and the calibration included, in which the worker is killed.
    pub killed_in: Vec<usize>,
    /// Launches, from 0, that outside evidence makes invalid.
    pub invalid: Vec<u32>,
}

impl MockFigure {
    /// A figure without failures, with values around `centre` in its unit.
    #[must_use]
    pub fn stable(centre: f64) -> Self {
        Self {
            noise: Noise::stable(centre),
            seconds: 0.05,
            calibration: 0.0,
            unfit: None,
            unfit_in: 0..0,
            crashes_at: None,
            killed_in: Vec::new(),
            invalid: Vec::new(),
        }
    }
}

/// Simulated launches.
pub struct MockSubject {
    figures: HashMap<FigureKey, MockFigure>,
    /// Behaviour of the figures without an entry.
    default: MockFigure,
    seed: u64,
    drawn: HashMap<FigureKey, (Vec<Vec<f64>>, u32)>,
    clock: f64,
    log: Vec<WorkerStep>,
    stop_after: Option<usize>,
    taking: Option<Box<TakenOf>>,
    quota_period: Option<Duration>,
    throttled: f64,
    rested: bool,
    rests: usize,
}

/// Time that the hypervisor and a quota take from a launch, by its round and whether the session rested before it.
type TakenOf = dyn Fn(u32, bool) -> [TakenTime; 2];

/// Launches drawn in advance for a figure.
const DRAWN_AHEAD: usize = 256;

impl MockSubject {
    /// A subject in which every figure behaves like `default`.
    #[must_use]
    pub fn new(seed: u64, default: MockFigure) -> Self {
        let (figures, drawn) = (HashMap::new(), HashMap::new());
        Self {
            figures,
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

    /// Lets time be taken from launches: stolen and throttled, by round and whether the session rested before.
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

    /// Number of waits of the session between launches.
    #[must_use]
    pub fn rests(&self) -> usize {
        self.rests
    }

    /// Sets a different behaviour for one figure.
    #[must_use]
    pub fn with(mut self, key: FigureKey, figure: MockFigure) -> Self {
        self.figures.insert(key, figure);
        self
    }

    /// Requests a stop in the launch after this number.
    #[must_use]
    pub fn stopping_after(mut self, launches: usize) -> Self {
        self.stop_after = Some(launches);
        self
    }

    /// Steps in the order of the requests.
    #[must_use]
    pub fn log(&self) -> &[WorkerStep] {
        &self.log
    }

    fn draw(&mut self, task: &Task, figure: &MockFigure) -> (Vec<f64>, u32) {
        let key = FigureKey::new(task.benchmark.clone(), task.point.clone());
        let seed = self.seed ^ hash(&key.to_string());
        let (drawn, next) = self.drawn.entry(key).or_insert_with(|| {
            (figure.noise.batches(DRAWN_AHEAD, task.batches.max(3) as usize, &mut generator(seed)), 0)
        });
        let at = *next;
        *next += 1;
        (drawn[at as usize % DRAWN_AHEAD].clone(), at)
    }

    fn measure(&mut self, step: &WorkerStep, task: &Task, figure: &MockFigure) -> Result<Reply, LaunchError> {
        let (values, at) = self.draw(task, figure);
        if figure.crashes_at == Some(at) {
            return Err(LaunchError::Crashed("exit code 134".to_owned()));
        }
        self.clock += figure.seconds;
        let rate = benchmarks::find(&task.benchmark).is_some_and(|benchmark| benchmark.metric.unit.is_rate());
        let nanos = |value: &f64| {
            let seconds = if rate { task.ops as f64 / value } else { value * task.ops as f64 };
            (seconds * 1e9) as u64
        };
        let launch = Launch {
            round: step.round,
            wall: figure.seconds,
            value: stats::median(&values).unwrap_or(figure.noise.centre),
            nanos: values.iter().map(nanos).collect(),
            warmup: task.warmup,
            steady: true,
            invalid: figure.invalid.contains(&at).then(|| Invalid::Misplaced(Placement::default())),
            ..Launch::default()
        };
        let launch = match &self.taking {
            Some(take) => {
                let [stolen, throttled] = take(step.round, std::mem::take(&mut self.rested));
                self.throttled += throttled.seconds;
                Launch { stolen: Some(stolen), throttled: Some(throttled), ..launch }
            }
            None => launch,
        };
        Ok(Reply::Launched { figure: task.figure, launch: Box::new(launch) })
    }
}

impl Subject for MockSubject {
    fn launch(&mut self, step: &WorkerStep, stopper: &Stopper) -> Result<Vec<Reply>, LaunchError> {
        self.log.push(step.clone());
        if self.stop_after.is_some_and(|most| self.log.len() > most) {
            stopper.stop();
            return Err(LaunchError::Stopped);
        }
        let mut replies = Vec::new();
        for task in &step.tasks {
            let key = FigureKey::new(task.benchmark.clone(), task.point.clone());
            let figure = self.figures.get(&key).unwrap_or(&self.default).clone();
            if let Some(reason) = figure.unfit {
                replies.push(Reply::Unfit { figure: task.figure, reason });
                continue;
            }
            let with = |before: &&WorkerStep| before.tasks.iter().any(|other| other.figure == task.figure);
            if figure.unfit_in.contains(&(self.log.iter().filter(with).count() - 1)) {
                replies.push(Reply::Unfit { figure: task.figure, reason: "its CPU is offline".to_owned() });
                continue;
            }
            let alone = |before: &&WorkerStep| before.tasks.len() == 1 && before.tasks[0].figure == task.figure;
            let so_far = self.log.iter().filter(alone).count();
            if step.tasks.len() == 1 && figure.killed_in.contains(&(so_far - 1)) {
                return Err(LaunchError::Killed("killed by signal 9".to_owned()));
            }
            replies.push(Reply::Prepared {
                figure: task.figure,
                amount: 1.0,
                variant: None,
                notes: Vec::new(),
                of_all: false,
            });
            replies.push(match step.purpose {
                Purpose::Calibrate => {
                    self.clock += figure.calibration;
                    Reply::Calibrated { figure: task.figure, ops: 1000, nanos: step.batch_nanos }
                }
                Purpose::Measure => self.measure(step, task, &figure)?,
            });
        }
        replies.push(Reply::Done);
        Ok(replies)
    }

    fn describe(
        &self,
        figure: &Figure,
        suite: &str,
        machine: &Topology,
        allowed: &[usize],
    ) -> Result<Description, String> {
        Description::placed(figure, suite, machine, allowed)
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
