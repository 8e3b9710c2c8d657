//! Runs whose references were read: clock steps and neighbours are planted, and so is what undisturbed batches found.
#![allow(clippy::unwrap_used, reason = "helpers of tests, which Clippy does not recognise as such")]

use model::{
    Class, Domain, Estimate, EstimateMethod, Figure, FigureReferences, Flag, Invalid, Launch, Metric, ObservedReason,
    Outcome, Run, SessionReferences, Share, UndisturbedBatches, UnsharedCore, UnsharedSource, ValueBasis,
};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use stats::simulate::standard_normal;

use super::{figure, rate, run, time};

/// What a session of a guest does to its launches.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings {
    /// Middle of the clock's steps, hertz.
    pub(crate) clock: f64,
    /// Steps of 3.5% up or down from launch to launch, at most three from the middle.
    pub(crate) steps: bool,
    /// Share of launches with a neighbour on the core.
    pub(crate) neighbour: f64,
}

pub(crate) const GUEST: Surroundings = Surroundings { clock: 2.6e9, steps: true, neighbour: 0.4 };

/// The launches of one session, drawn one after the other.
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

    /// Clock of the next launch, and what a neighbour makes of its time.
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

    /// A core figure of so many cycles an operation.
    pub(crate) fn core(&mut self, benchmark: &str, metric: Metric, class: Class, cycles: f64, noise: f64) -> Figure {
        let lower = !metric.unit.is_rate();
        let launches: Vec<Launch> = (0..20)
            .map(|round| {
                let (clock, slower) = self.next();
                let own = cycles * (noise * standard_normal(self.rng)).exp();
                let own = if lower { own } else { 1.0 / own };
                let seen = metric.at_clock(own, clock) * if lower { slower } else { 1.0 / slower };
                let undisturbed = UndisturbedBatches {
                    batches: 20,
                    of: 40,
                    value: Some(metric.at_clock(own, clock)),
                    cycles: Some(own),
                    clock: Some(clock),
                };
                let undisturbed = Some(undisturbed);
                Launch { round, began: f64::from(round), value: seen, undisturbed, ..Launch::default() }
            })
            .collect();
        let mut made = figure(benchmark, "", metric, class, &[], Outcome::Unfit(String::new()));
        made.launches = launches;
        made.references = Some(FigureReferences {
            domain: Domain::Core,
            basis: ValueBasis::Cycles,
            clock: Some(1.0),
            ..FigureReferences::default()
        });
        made
    }
}

/// What a document states for launch values.
pub(crate) fn estimate(values: &[f64]) -> Estimate {
    // Where the steps of the clock persist, too few launches for 95% are a range with a level of its own.
    let found = stats::serial_median_interval(values, 0.95).or_else(|| stats::launch_median_range(values)).unwrap();
    Estimate {
        value: stats::median(values).unwrap(),
        low: found.interval.low,
        high: found.interval.high,
        level: found.interval.level,
        launches: u32::try_from(values.len()).unwrap(),
        batches: 20,
        method: EstimateMethod::OrderStatistic,
    }
}

/// Every figure as `basis` says, at a clock.
pub(crate) fn state(figure: &mut Figure, basis: ValueBasis, clock: f64) {
    let observed: Vec<f64> = figure.launches.iter().map(|launch| launch.value).collect();
    let references = figure.references.as_mut().unwrap();
    (references.basis, references.clock) = (basis, Some(clock));
    references.observed = Some(estimate(&observed));
    figure.outcome = Outcome::Measured(estimate(&figure.values()));
}

/// A run of core figures: their median clock is the session's, and its own figure.
pub(crate) fn core_run(id: &str, machine: &str, session: &str, mut figures: Vec<Figure>) -> Run {
    let of = |figure: &Figure| figure.launches.iter().filter_map(|l| l.undisturbed?.clock).collect::<Vec<f64>>();
    let clocks: Vec<f64> = figures.iter().flat_map(of).collect();
    let stated = estimate(&clocks);
    figures.iter_mut().for_each(|figure| state(figure, ValueBasis::Cycles, stated.value));
    let clock = figure("cpu.clock", "", rate("cycles"), Class::Compute, &[], Outcome::Measured(stated));
    figures.insert(0, clock);
    let mut made = run(id, machine, session, figures);
    let unshared = UnsharedCore {
        cpus: vec![0, 1],
        ratio: Some(1.211),
        source: UnsharedSource::LowerMode,
        ..UnsharedCore::default()
    };
    made.session.references = Some(SessionReferences {
        unshared: vec![unshared],
        clock: Some(stated.value),
        core_shared: Share::new(0.4),
        ..SessionReferences::default()
    });
    made
}

/// Classes of core figures.
pub(crate) const CORE_CLASSES: [Class; 3] = [Class::Compute, Class::Fault, Class::Ipc];

/// A session of `count` equal core figures, most of them of the core alone. Its own shift of each class is drawn from
/// the floor.
pub(crate) fn session(id: &str, machine: &str, count: usize, around: Surroundings, rng: &mut ChaCha8Rng) -> Run {
    let shifts: Vec<f64> = CORE_CLASSES.iter().map(|class| class.session_noise() * standard_normal(rng)).collect();
    let mut guest = GuestSession::new(around, rng);
    let figures = (0..count)
        .map(|i| {
            let class = [0, 0, 0, 1, 0, 0, 2][i % 7];
            let cycles = (5.0 + i as f64) * shifts[class].exp();
            let metric = if i % 5 == 4 { rate("operations") } else { time("operation") };
            guest.core(&format!("sim.f{i}"), metric, CORE_CLASSES[class], cycles, 0.001)
        })
        .collect();
    core_run(id, machine, id, figures)
}

/// The core figure as an old document would hold it: no references, all batches.
pub(crate) fn without_references(run: &Run) -> Run {
    let mut old = run.clone();
    old.session.references = None;
    old.figures.retain(|figure| figure.benchmark != "cpu.clock");
    for figure in &mut old.figures {
        figure.references = None;
        figure.launches.iter_mut().for_each(|launch| launch.undisturbed = None);
        figure.outcome = Outcome::Measured(estimate(&figure.values()));
    }
    old
}

/// Marks every launch of a figure as contended: what is stated is what was observed.
pub(crate) fn contended(run: &mut Run, benchmark: &str) {
    let clock = run.session.references.as_ref().unwrap().clock.unwrap();
    let figure = run.figures.iter_mut().find(|figure| figure.benchmark == benchmark).unwrap();
    figure.launches.iter_mut().for_each(|l| l.invalid = Some(Invalid::Contended { batches: 1, of: 40 }));
    figure.flags.push(Flag::Contended);
    state(figure, ValueBasis::Observed(ObservedReason::UnsharedNeverSeen), clock);
}
