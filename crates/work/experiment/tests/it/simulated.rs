//! A simulated machine: it drifts, it is noisy, and settings have known effects.

use std::collections::HashMap;

use compare::experiment::SettingEffects;
use experiment::{Bench, Change, Experiment, Held, Row, Setting, Switch};
use measure::{
    Description, Host, MeasureSession, NullObserver, OutsideCounters, Purpose, Reply, RunRequest, SampleError, Saver,
    Stopper, WorkerStep,
};
use model::{Better, Identity, Machine, Parameters, Plan, PlanEntry, Run, Sample};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Settings without an own meaning: the simulation knows what they do.
pub(crate) static ALL: [Setting; 4] = [named("first"), named("second"), named("third"), named("fourth")];

const fn named(id: &'static str) -> Setting {
    Setting::process(id, id, Change::Nothing, &[])
}

pub(crate) struct Simulated {
    random: StdRng,
    /// Factor on the time of each setting that is on.
    factors: HashMap<&'static str, f64>,
    /// Factor if the first and the second are on together.
    pub(crate) together: f64,
    /// Standard deviation of the logarithm of a sample.
    noise: f64,
    /// The logarithm of the machine's slowness, which wanders.
    drift: f64,
    clock: f64,
    better: Better,
}

impl Simulated {
    pub(crate) fn new(seed: u64, factors: &[(&'static str, f64)], noise: f64) -> Self {
        Self {
            random: StdRng::seed_from_u64(seed),
            factors: factors.iter().copied().collect(),
            together: 1.0,
            noise,
            drift: 0.0,
            clock: 0.0,
            better: Better::Lower,
        }
    }

    pub(crate) fn rate(self) -> Self {
        Self { better: Better::Higher, ..self }
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0
    }
}

impl Host for Simulated {
    fn now(&self) -> f64 {
        self.clock
    }

    fn outside(&self, _: &[usize]) -> OutsideCounters {
        OutsideCounters::default()
    }
}

impl Bench for Simulated {
    fn sample(&mut self, held: &[Held<'_>], step: WorkerStep, _: &Stopper) -> Result<Vec<Reply>, SampleError> {
        let result = step.tasks[0].result;
        self.clock += 0.05;
        if step.purpose == Purpose::Calibrate {
            return Ok(vec![Reply::Calibrated { result, ops: 1000, nanos: 1_000_000 }, Reply::Done]);
        }
        // A steady drift, a random walk, and noise with a heavy tail.
        self.drift += 0.0005 + 0.003 * self.normal();
        let tail = if self.random.random_bool(0.05) { 3.0 } else { 1.0 };
        let mut log = self.drift + self.noise * tail * self.normal();
        let on = |id: &str| held.iter().any(|(setting, value)| setting.id == id && *value == "on");
        log += self.factors.iter().filter(|(id, _)| on(id)).map(|(_, factor)| factor.ln()).sum::<f64>();
        if on("first") && on("second") {
            log += self.together.ln();
        }
        let value = if self.better == Better::Lower { 1e-6 * log.exp() } else { 1e6 / log.exp() };
        let sample =
            Sample { round: step.round, wall: 0.05, value, nanos: vec![1_000_000], steady: true, ..Sample::default() };
        Ok(vec![Reply::Launched { result, sample: Box::new(sample) }, Reply::Done])
    }

    fn description(&self) -> Description {
        Description::default()
    }
}

struct Nowhere;

impl Saver for Nowhere {
    fn save(&mut self, _: &Run) -> Result<(), String> {
        Ok(())
    }
}

pub(crate) fn switch(setting: &'static Setting) -> Switch {
    Switch { setting, from: "off".to_owned(), to: "on".to_owned() }
}

/// All settings, switched.
pub(crate) fn every() -> Vec<Switch> {
    ALL.iter().map(switch).collect()
}

/// An experiment with these rows on a simulated machine.
pub(crate) fn measured(mut machine: Simulated, rows: Vec<Row>, blocks: u32, seed: u64) -> (Run, SettingEffects) {
    let metric = PlanEntry {
        benchmark: "os.syscall_getppid".to_owned(),
        parameters: Parameters::none(),
        target: 0.02,
        shares: None,
    };
    let plan = Plan {
        suite: "experiment".to_owned(),
        seed,
        target: f64::MIN_POSITIVE,
        checkpoints: vec![blocks],
        ..Plan::default()
    };
    let mut run = measure::begin(plan, Machine::default(), Identity::default());
    experiment::fill(&mut run, &metric, &rows);
    let order = RunRequest::of(run, vec![0]).unwrap();
    let better = machine.better;
    let mut subject = Experiment::new(&mut machine, rows, better);
    let ended =
        MeasureSession::measure(order, &mut subject, &mut NullObserver, &mut Nowhere, Stopper::default()).unwrap();
    let found = compare::experiment::effects(&ended.run).unwrap();
    (ended.run, found)
}
