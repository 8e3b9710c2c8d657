//! Sessions on a core with an intermittent neighbour, without a clock: repetitions, ends, and the notes of a run.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::Duration;

use measure::{
    Description, EndReason, Host, MeasureSession, NullObserver, Purpose, Reply, RunRequest, SampleError, Saver,
    Stopper, Subject, Task, WorkerStep, select,
};
use model::{
    BenchmarkResult, CLOCK, CORE_SHARED, ExclusiveSource, Fact, Flag, Identity, Invalid, Machine, Placement, Plan,
    RawReason, Run, Sample, SampleSensors, SensorLengths, SensorReading, SensorTrack, SmallSteps, ValueBasis,
};

const LENGTHS: SensorLengths = SensorLengths { clock: 36_000, contention: 180_000, issue: 216_000 };
/// Operations of a batch, and cycles of an operation on an exclusive core.
const OPS: u64 = 1000;
pub(crate) const CYCLES: f64 = 600.0;

/// A machine whose clock steps and whose core has a neighbour in some seconds of the session.
pub(crate) struct SharedCore {
    pub(crate) now: f64,
    /// Whether a neighbour is there at a moment, and by how much it slows things down.
    pub(crate) neighbour: fn(f64) -> Option<f64>,
    pub(crate) steps: Vec<WorkerStep>,
    /// When each step began.
    pub(crate) began: Vec<f64>,
    pub(crate) refused: bool,
    /// Instructions per cycle that its front end passes while the core is exclusive.
    pub(crate) issues: f64,
    /// Samples differ by at most this part of their cycles.
    pub(crate) scatter: f64,
    /// Results from this one on differ by 30%, and are never within any target.
    pub(crate) wild: Option<usize>,
    /// CPUs that no neighbour comes to.
    pub(crate) free: Vec<usize>,
    /// For a result on two CPUs: when the host has them on two caches, where everything takes a third longer.
    pub(crate) apart: Option<fn(f64) -> bool>,
}

impl SharedCore {
    pub(crate) fn new(neighbour: fn(f64) -> Option<f64>) -> Self {
        Self {
            now: 0.0,
            neighbour,
            steps: Vec::new(),
            began: Vec::new(),
            refused: false,
            issues: 6.0,
            scatter: 0.0,
            wild: None,
            free: Vec::new(),
            apart: None,
        }
    }

    fn is_apart(&self) -> bool {
        self.apart.is_some_and(|apart| apart(self.now))
    }

    /// Gigahertz: steps of 4% every two seconds.
    fn clock(&self) -> f64 {
        3.0 * (1.0 - 0.04 * ((self.now / 2.0) as u32 % 4) as f64)
    }

    /// By how much a neighbour slows a CPU down now.
    fn slower(&self, cpu: usize) -> Option<f64> {
        (self.neighbour)(self.now).filter(|_| !self.free.contains(&cpu))
    }

    fn reading(&self, cpu: usize) -> (u32, u32) {
        let clock = 36_000.0 / self.clock();
        (clock as u32, (clock * 1.25 * self.slower(cpu).unwrap_or(1.0)) as u32)
    }

    fn launch(&mut self, step: &WorkerStep, task: &Task, batches: u32) -> Sample {
        let (result, cpu) = (task.result, task.cpus[0]);
        let number = u32::try_from(cpu).unwrap();
        let (mut clock, mut contention, mut nanos) = (Vec::new(), Vec::new(), Vec::new());
        // The fractional parts of the golden ratio's multiples are spread evenly, in an order without a trend.
        let scatter = if self.wild.is_some_and(|wild| result >= wild) { 0.3 } else { self.scatter };
        let own = 1.0 + scatter * (2.0 * (self.steps.len() as f64 * 0.618_034).fract() - 1.0);
        let distance = |moved: bool| if moved { 180_000 } else { 40_000 };
        let mut distances = vec![distance(self.is_apart())];
        for batch in 0..=batches {
            let read = self.reading(cpu);
            clock.push(read.0);
            contention.push(read.1);
            if batch < batches {
                let slower = self.slower(cpu).unwrap_or(if self.is_apart() { 1.33 } else { 1.0 });
                nanos.push((own * CYCLES * OPS as f64 * slower / self.clock()) as u64);
                self.now += 2e-4;
            }
        }
        let values: Vec<f64> = nanos.iter().map(|nanos| *nanos as f64 * 1e-9 / OPS as f64).collect();
        distances.push(distance(self.is_apart()));
        let track = SensorTrack { cpu: number, clock: SmallSteps(clock), contention: SmallSteps(contention) };
        let mut tracks = vec![track];
        match self.apart {
            Some(_) => tracks.push(SensorTrack { cpu: 0, ..tracks[0].clone() }),
            None => distances.clear(),
        }
        let distances = SmallSteps(distances);
        Sample {
            round: step.round,
            value: stats::median(&values).unwrap(),
            nanos,
            steady: true,
            placement: Placement { asked: vec![number], seen: vec![vec![number]] },
            sensors: Some(SampleSensors { lengths: LENGTHS, tracks, distances, ..SampleSensors::default() }),
            ..Sample::default()
        }
    }
}

impl Subject for SharedCore {
    fn launch(&mut self, step: &WorkerStep, _: &Stopper) -> Result<Vec<Reply>, SampleError> {
        self.steps.push(step.clone());
        self.began.push(self.now);
        let mut replies = Vec::new();
        for task in &step.tasks {
            self.now += 0.03;
            let prepared =
                Reply::Prepared { result: task.result, amount: 1.0, variant: None, notes: Vec::new(), of_all: false };
            replies.push(prepared);
            replies.push(match step.purpose {
                Purpose::Calibrate => Reply::Calibrated { result: task.result, ops: OPS, nanos: step.batch_nanos },
                Purpose::Measure => {
                    let sample = Box::new(SharedCore::launch(self, step, task, task.batches.min(30)));
                    Reply::Launched { result: task.result, sample }
                }
            });
        }
        replies.push(Reply::Done);
        Ok(replies)
    }

    fn describe(
        &self,
        result: &BenchmarkResult,
        suite: &str,
        machine: &model::Topology,
        allowed: &[usize],
    ) -> Result<Description, String> {
        Description::placed(result, suite, machine, allowed)
    }
}

impl Host for SharedCore {
    fn now(&self) -> f64 {
        self.now
    }

    fn tick(&self) -> u64 {
        1
    }

    fn rest(&mut self, time: Duration, _: &Stopper) {
        self.now += time.as_secs_f64();
    }

    fn identity(&self) -> Identity {
        Identity::default()
    }

    fn calibrate_sensors(&mut self, _: usize) -> Option<Result<SensorLengths, String>> {
        Some(if self.refused { Err("this machine is emulated".to_owned()) } else { Ok(LENGTHS) })
    }

    fn read_sensors(&mut self, _: SensorLengths, cpu: usize, readings: usize) -> Vec<SensorReading> {
        let (clock, contention) = self.reading(cpu);
        let issued = self.issues / self.slower(cpu).unwrap_or(1.0);
        let issue = (216_000.0 / issued / self.clock()) as u32;
        vec![SensorReading { clock, contention, issue }; readings]
    }
}

/// Saves what can be written and read back.
pub(crate) struct Checked;

impl Saver for Checked {
    fn save(&mut self, run: &Run) -> Result<(), String> {
        let text = model::render_run(run).map_err(|error| error.to_string())?;
        assert_eq!(&model::parse_run(&text).unwrap(), run);
        Ok(())
    }
}

pub(crate) fn measured(subject: &mut SharedCore, sensors: bool) -> Run {
    measured_on(Machine::default(), subject, sensors)
}

pub(crate) fn measured_on(machine: Machine, subject: &mut SharedCore, sensors: bool) -> Run {
    let named = ["os.syscall_getppid", "os.syscall_write"].map(str::to_owned);
    let plan = Plan { seed: 7, entries: select(None, &named, 0.02).unwrap(), sensors, ..Plan::default() };
    let order = RunRequest::new(plan, machine, Identity::default(), vec![0, 1]).unwrap();
    let ended = MeasureSession::measure(order, subject, &mut NullObserver, &mut Checked, Stopper::default()).unwrap();
    assert_eq!(ended.ending, EndReason::Complete);
    ended.run
}

pub(crate) fn shared_core(result: &BenchmarkResult) -> usize {
    result.samples.iter().filter(|sample| matches!(sample.invalid, Some(Invalid::SharedCore { .. }))).count()
}

fn moved(result: &BenchmarkResult) -> usize {
    result.samples.iter().filter(|sample| matches!(sample.invalid, Some(Invalid::Moved { .. }))).count()
}

#[test]
fn samples_while_the_host_had_the_cpus_elsewhere_do_not_count() {
    // For one second in four; a neighbour in some moments, without whom no exclusive core would be known.
    let neighbour = |now: f64| ((now * 3.0).fract() < 0.1).then_some(1.5);
    let apart: fn(f64) -> bool = |now| (now / 4.0).fract() < 0.25;
    let mut subject = SharedCore { apart: Some(apart), scatter: 0.02, ..SharedCore::new(neighbour) };
    let run = measured(&mut subject, true);
    let sensors = run.session.sensors.as_ref().unwrap();
    let usual = sensors.distances[0];
    assert_eq!((usual.cpus, usual.picos, usual.elsewhere), ([1, 0], 40_000, Some(180_000)));
    let clock = sensors.clock.unwrap();
    for result in &run.results[..2] {
        let estimate = result.outcome.estimate().unwrap();
        assert!((estimate.value * clock / CYCLES - 1.0).abs() < 0.02, "{estimate:?}");
        assert!(result.is_within(0.03, 0.95) && moved(result) > 0, "{:?} {}", result.flags, moved(result));
        // Not tried again in their round: the host leaves them there for longer than that.
        let alone = |sample: &&Sample| sample.clean.is_some_and(|found| found.batches >= 20);
        let tried = |sample: &&Sample| matches!(sample.invalid, Some(Invalid::Moved { .. })) && sample.round >= 10;
        for sample in result.samples.iter().filter(tried).filter(alone) {
            let again = result.samples.iter().filter(|other| other.round == sample.round).count();
            assert_eq!(again, 1, "round {}", sample.round);
        }
    }
    // CPUs that are apart most of the time are the machine's normal state.
    let apart: fn(f64) -> bool = |now| (now / 4.0).fract() < 0.9;
    let mut subject = SharedCore { apart: Some(apart), scatter: 0.02, ..SharedCore::new(neighbour) };
    let run = measured(&mut subject, true);
    let sensors = run.session.sensors.as_ref().unwrap();
    assert_eq!(sensors.distances[0].picos, 180_000);
    let estimate = run.results[0].outcome.estimate().unwrap();
    assert!((estimate.value * sensors.clock.unwrap() / (1.33 * CYCLES) - 1.0).abs() < 0.02, "{estimate:?}");
}

#[test]
fn a_neighbour_who_comes_and_goes_costs_samples_and_not_the_value() {
    // For half a second in every second, of changing weight.
    let mut subject = SharedCore::new(|now| (now.fract() < 0.5).then(|| 1.3 + 0.5 * (now * 7.3).fract()));
    let run = measured(&mut subject, true);
    let sensors = run.session.sensors.as_ref().unwrap();
    assert_eq!(sensors.exclusive[0].source, ExclusiveSource::LowerMode);
    assert!((sensors.exclusive[0].ratio.unwrap() - 0.25).abs() < 0.001, "{:?}", sensors.exclusive);
    let clock = sensors.clock.unwrap();
    for result in &run.results[..2] {
        assert_eq!(result.basis(), &ValueBasis::Cycles, "{:?}", result.sensors);
        let estimate = result.outcome.estimate().unwrap();
        assert!((estimate.value * clock / CYCLES - 1.0).abs() < 2e-3, "{estimate:?}");
        assert!(estimate.relative_half_width() < 2e-3 && result.is_within(0.02, 0.95), "{estimate:?}");
        assert!(shared_core(result) > 0 && result.has(Flag::Repeated) && !result.has(Flag::SharedCore));
        let raw = result.sensors.as_ref().unwrap().raw.unwrap();
        assert!(raw.high > 1.2 * estimate.value, "neighbours are in what was observed: {raw:?}");
        // Tried again at once, twice at most.
        for round in 0..run.session.rounds {
            assert!(result.samples.iter().filter(|sample| sample.round == round).count() <= 3);
        }
    }
    let condition = |benchmark: &str| run.results.iter().find(|result| result.benchmark == benchmark).unwrap();
    assert!(condition(CLOCK).outcome.estimate().is_some_and(|found| (2.6..3.01).contains(&(found.value * 1e-9))));
    assert!(condition(CORE_SHARED).outcome.estimate().is_some_and(|found| (0.2..0.8).contains(&found.value)));
    let asked = subject.steps.iter().rfind(|step| step.purpose == Purpose::Measure).unwrap();
    assert_eq!((asked.batch_nanos, asked.tasks[0].batches, asked.tasks[0].enough), (200_000, 100, 12));
}

#[test]
fn a_core_that_is_shared_all_the_time_filters_nothing_and_says_so() {
    let mut subject = SharedCore::new(|now| Some(1.2 + 0.7 * (now * 7.3).fract()));
    let run = measured(&mut subject, true);
    let sensors = run.session.sensors.as_ref().unwrap();
    assert_eq!((sensors.exclusive[0].source, sensors.core_shared), (ExclusiveSource::Unknown, None));
    for result in &run.results[..2] {
        assert_eq!(result.basis(), &ValueBasis::Raw(RawReason::ExclusiveNeverSeen));
        assert!(result.has(Flag::SharedCore) && shared_core(result) == 0, "{:?}", result.flags);
        assert!(result.outcome.estimate().is_some());
    }
    assert!(run.results.iter().all(|result| result.benchmark != CORE_SHARED), "nothing is known of it");
}

/// A machine whose cores pass six instructions per cycle.
fn six_wide() -> Machine {
    let fact = |name: &str, value: &str| Fact::new(name, value, "test", &[]);
    let facts = vec![fact("cpu.vendor", "AuthenticAMD"), fact("cpu.family", "25")];
    Machine { facts, ..Machine::default() }
}

#[test]
fn a_core_without_neighbours_shows_it_by_the_instructions_that_it_issues() {
    let mut subject = SharedCore::new(|_| None);
    let run = measured_on(six_wide(), &mut subject, true);
    let sensors = run.session.sensors.as_ref().unwrap();
    assert_eq!(sensors.exclusive[0].source, ExclusiveSource::IssueWidth);
    assert!((sensors.exclusive[0].ratio.unwrap() - 0.25).abs() < 0.001, "{:?}", sensors.exclusive);
    assert!(sensors.core_shared.is_some_and(|share| share.get() < 1e-9));
    for result in &run.results[..2] {
        assert_eq!(result.basis(), &ValueBasis::Cycles, "{:?}", result.sensors);
        assert!(!result.has(Flag::SharedCore) && result.is_within(0.02, 0.95), "{:?}", result.flags);
    }
    // The same readings on a machine of unknown width: one mode, which may be that of a steady neighbour.
    let run = measured(&mut SharedCore::new(|_| None), true);
    assert_eq!(run.session.sensors.unwrap().exclusive[0].source, ExclusiveSource::Unknown);
}

#[test]
fn a_neighbour_as_steady_as_a_clock_is_not_taken_for_an_exclusive_core() {
    for slower in [|_| Some(2.0), |_| Some(1.3), |_| Some(1.1)] {
        let run = measured_on(six_wide(), &mut SharedCore::new(slower), true);
        let sensors = run.session.sensors.as_ref().unwrap();
        assert_eq!((sensors.exclusive[0].source, sensors.core_shared), (ExclusiveSource::Unknown, None));
        assert!(run.results[..2].iter().all(|result| result.has(Flag::SharedCore)));
    }
}

#[test]
fn a_neighbour_who_does_not_come_back_off_ends_the_rule() {
    // There but for a twentieth of the time, and for good after six seconds.
    let mut subject =
        SharedCore::new(|now| (now > 6.0 || (now / 3.0).fract() > 0.07).then(|| 1.2 + 0.7 * (now * 7.3).fract()));
    let run = measured(&mut subject, true);
    for result in &run.results[..2] {
        let ValueBasis::Raw(reason) = result.basis() else { panic!("{:?}", result.sensors) };
        assert!(reason.is_contention() && result.has(Flag::SharedCore), "{reason}");
        assert!(result.samples.iter().any(|sample| sample.waited_for_core), "it had waited");
        assert_eq!(result.counted().len(), result.samples.len(), "no sample is set aside");
    }
}

#[test]
fn without_references_a_run_is_as_it_was() {
    let mut subject = SharedCore::new(|_| None);
    let run = measured(&mut subject, false);
    assert_eq!((run.session.sensors.as_ref(), run.results.len()), (None, 2));
    assert!(subject.steps.iter().all(|step| step.sensors.is_none() && step.batch_nanos == 1_000_000));
    let mut emulated = SharedCore { refused: true, ..SharedCore::new(|_| None) };
    let run = measured(&mut emulated, true);
    let refused = run.session.sensors.unwrap().refused;
    assert_eq!(refused.as_deref(), Some("this machine is emulated"));
    assert!(emulated.steps.iter().all(|step| step.sensors.is_none() && step.batch_nanos == 1_000_000));
}
