//! Runs whose references were read: clock steps and neighbours are planted, and so is what clean batches found.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use model::{
    BenchmarkResult, Class, CleanBatches, Domain, Estimate, EstimateMethod, ExclusiveCore, ExclusiveSource, Flag,
    Invalid, Metric, Outcome, RawReason, ResultSensors, Run, Sample, SessionSensors, Share, ValueBasis,
};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use stats::simulate::standard_normal;

use super::{rate, result, run, time};

/// Effects of a guest's session on its samples.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings {
    /// Middle of the clock's steps, hertz.
    pub(crate) clock: f64,
    /// Steps of 3.5% up or down from sample to sample, at most three from the middle.
    pub(crate) steps: bool,
    /// Share of samples with a neighbour on the core.
    pub(crate) neighbour: f64,
}

pub(crate) const GUEST: Surroundings = Surroundings { clock: 2.6e9, steps: true, neighbour: 0.4 };

/// The samples of one session, drawn one after the other.
pub(crate) struct GuestSession<'a> {
    pub(crate) around: Surroundings,
    step: i32,
    shared: bool,
    pub(crate) rng: &'a mut ChaCha8Rng,
}

impl<'a> GuestSession<'a> {
    pub(crate) fn new(around: Surroundings, rng: &'a mut ChaCha8Rng) -> Self {
        Self { around, step: 0, shared: false, rng }
    }

    /// Clock of the next sample, and the neighbour's effect on its time.
    fn next(&mut self) -> (f64, f64) {
        if self.around.steps {
            self.step = (self.step + self.rng.random_range(-1..=1)).clamp(-3, 3);
        }
        if self.rng.random_bool(0.3) {
            self.shared = self.rng.random_bool(self.around.neighbour);
        }
        let slower = if self.shared { self.rng.random_range(1.1..1.8) } else { 1.0 };
        (self.around.clock * 1.035_f64.powi(self.step), slower)
    }

    /// A core result with this many cycles an operation.
    pub(crate) fn core(
        &mut self,
        benchmark: &str,
        metric: Metric,
        class: Class,
        cycles: f64,
        noise: f64,
    ) -> BenchmarkResult {
        let lower = !metric.unit.is_rate();
        let samples: Vec<Sample> = (0..20)
            .map(|round| {
                let (clock, slower) = self.next();
                let own = cycles * (noise * standard_normal(self.rng)).exp();
                let own = if lower { own } else { 1.0 / own };
                let seen = metric.at_clock(own, clock) * if lower { slower } else { 1.0 / slower };
                let clean = CleanBatches {
                    batches: 20,
                    of: 40,
                    value: Some(metric.at_clock(own, clock)),
                    cycles: Some(own),
                    clock: Some(clock),
                };
                let clean = Some(clean);
                Sample { round, began: f64::from(round), value: seen, clean, ..Sample::default() }
            })
            .collect();
        let mut made = result(benchmark, "", metric, class, &[], Outcome::NotMeasured(String::new()));
        made.samples = samples;
        made.sensors = Some(ResultSensors {
            domain: Domain::Core,
            basis: ValueBasis::Cycles,
            clock: Some(1.0),
            ..ResultSensors::default()
        });
        made
    }
}

/// The estimate that a document states for sample values.
pub(crate) fn estimate(values: &[f64]) -> Estimate {
    // If the steps of the clock persist, samples too few for 95% give a min-max range with a level of its own.
    let found = stats::serial_median_interval(values, 0.95).or_else(|| stats::sample_median_range(values)).unwrap();
    found.estimate(values.len(), 20, EstimateMethod::OrderStatistic)
}

/// Every result as `basis` says, at a clock.
pub(crate) fn state(result: &mut BenchmarkResult, basis: ValueBasis, clock: f64) {
    let raw: Vec<f64> = result.samples.iter().map(|sample| sample.value).collect();
    let sensors = result.sensors.as_mut().unwrap();
    (sensors.basis, sensors.clock) = (basis, Some(clock));
    sensors.raw = Some(estimate(&raw));
    result.outcome = Outcome::Measured(estimate(&result.values()));
}

/// A run of core results: their median clock is the session's, and its own result.
pub(crate) fn core_run(id: &str, machine: &str, session: &str, mut results: Vec<BenchmarkResult>) -> Run {
    let of = |result: &BenchmarkResult| result.samples.iter().filter_map(|l| l.clean?.clock).collect::<Vec<f64>>();
    let clocks: Vec<f64> = results.iter().flat_map(of).collect();
    let stated = estimate(&clocks);
    results.iter_mut().for_each(|result| state(result, ValueBasis::Cycles, stated.value));
    let clock = result("cpu.clock", "", rate("cycles"), Class::Compute, &[], Outcome::Measured(stated));
    results.insert(0, clock);
    let mut made = run(id, machine, session, results);
    let exclusive = ExclusiveCore {
        cpus: vec![0, 1],
        ratio: Some(1.211),
        source: ExclusiveSource::LowerMode,
        ..ExclusiveCore::default()
    };
    made.session.sensors = Some(SessionSensors {
        exclusive: vec![exclusive],
        clock: Some(stated.value),
        core_shared: Share::new(0.4),
        ..SessionSensors::default()
    });
    made
}

/// Classes of core results.
pub(crate) const CORE_CLASSES: [Class; 3] = [Class::Compute, Class::Fault, Class::Ipc];

/// A session of `count` equal core results, most of them of the core alone. Its own shift of each class is drawn from
/// the session noise.
pub(crate) fn session(id: &str, machine: &str, count: usize, around: Surroundings, rng: &mut ChaCha8Rng) -> Run {
    let shifts: Vec<f64> = CORE_CLASSES.iter().map(|class| class.session_noise() * standard_normal(rng)).collect();
    let mut guest = GuestSession::new(around, rng);
    let results = (0..count)
        .map(|i| {
            let class = [0, 0, 0, 1, 0, 0, 2][i % 7];
            let cycles = (5.0 + i as f64) * shifts[class].exp();
            let metric = if i % 5 == 4 { rate("operations") } else { time("operation") };
            guest.core(&format!("sim.f{i}"), metric, CORE_CLASSES[class], cycles, 0.001)
        })
        .collect();
    core_run(id, machine, id, results)
}

/// The core result as an old document would hold it: no references, all batches.
pub(crate) fn without_references(run: &Run) -> Run {
    let mut old = run.clone();
    old.session.sensors = None;
    old.results.retain(|result| result.benchmark != "cpu.clock");
    for result in &mut old.results {
        result.sensors = None;
        result.samples.iter_mut().for_each(|sample| sample.clean = None);
        result.outcome = Outcome::Measured(estimate(&result.values()));
    }
    old
}

/// Marks every sample of a result as shared, so that its value is raw.
pub(crate) fn shared_core(run: &mut Run, benchmark: &str) {
    let clock = run.session.sensors.as_ref().unwrap().clock.unwrap();
    let result = run.results.iter_mut().find(|result| result.benchmark == benchmark).unwrap();
    result.samples.iter_mut().for_each(|l| l.invalid = Some(Invalid::SharedCore { batches: 1, of: 40 }));
    result.flags.push(Flag::SharedCore);
    state(result, ValueBasis::Raw(RawReason::ExclusiveNeverSeen), clock);
}
