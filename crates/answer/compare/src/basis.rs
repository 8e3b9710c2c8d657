//! On what two results are compared: cycles, time at the clocks that the machines showed, or all batches (raw).
//!
//! Only runs of one machine are compared in cycles, to find what changed besides the clock. Unlike bases are never
//! compared.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use model::{BenchmarkResult, Definition, Outcome, RULES, Run, Sample, SessionSensors, ValueBasis};
use stats::Floor;

use super::options::CompareOptions;
use super::ratio_basis::{FloorUsed, RatioBasis};
use super::relation::Relation;
use super::result_view::ResultView;
use super::session::{History, relation};
use super::shift::{CompareShift, CoreShifts, shift, shift_of_ranks};
use super::verdict::ResultFinding;
use crate::shown_clock::{RESOLUTION, ShownClock, is_condition};

/// Part of the margin that applies to cycles of one machine.
pub(crate) const CYCLES_BAND: f64 = RULES.compare.cycles_band;

/// One run's result, with the clock of the run.
#[derive(Clone, Copy)]
pub(crate) struct ComparedResult<'a> {
    pub(crate) run: &'a Run,
    pub(crate) result: &'a BenchmarkResult,
    pub(crate) clock: Option<ShownClock>,
}

/// Why two results are no two values of one thing, where they are not.
pub(crate) fn incomparable(a: &ComparedResult, b: &ComparedResult) -> Option<String> {
    let one_machine = relation(a.run, b.run) != Relation::AnotherMachine;
    let (a, b) = (a.result, b.result);
    if let Definition::Other(differs) = a.definition.between(&b.definition) {
        return Some(format!("another definition: {differs}"));
    }
    let surveys = [a.surveyed_levels()?, b.surveyed_levels()?];
    if one_machine { other_level(a, &surveys) } else { None }
}

/// Why a result of the memory hierarchy belongs to different levels in two runs of one machine, if so. A machine does
/// not gain a cache from one run to the next. One of the surveys missed a level or took noise for one, so that "level
/// 2" means different caches. The first level and main memory are the same in both.
fn other_level(result: &BenchmarkResult, surveys: &[Vec<RangeInclusive<u64>>; 2]) -> Option<String> {
    let parameters = result.parameters.get("level");
    if matches!(parameters, Some("1" | "memory")) {
        return None;
    }
    let [found_a, found_b] = surveys.each_ref().map(Vec::len);
    if found_a != found_b {
        return Some(format!(
            "the surveys of the two runs found {found_a} and {found_b} levels of memory on one machine"
        ));
    }
    // The next level ends a level, so its size is known only where both are the same.
    let level: usize = parameters?.parse().ok()?;
    let apart =
        (level.saturating_sub(1)..=level).find(|at| match surveys.each_ref().map(|levels| levels.get(*at)) {
            [Some(x), Some(y)] => x.end() < y.start() || y.end() < x.start(),
            _ => false,
        })?;
    let megabytes = |bytes: u64| bytes as f64 * 1e-6;
    let [x, y] = surveys
        .each_ref()
        .map(|levels| format!("{:.2} to {:.2} MB", megabytes(*levels[apart].start()), megabytes(*levels[apart].end())));
    Some(format!("the surveys of the two runs found level {} of one machine at {x} and at {y}", apart + 1))
}

/// The basis on which two results are compared.
pub(crate) fn basis_of(a: &ComparedResult, b: &ComparedResult) -> RatioBasis {
    let in_modes = |one: &ComparedResult| matches!(one.result.outcome, Outcome::Modes(_));
    match (a.result.basis(), b.result.basis()) {
        (ValueBasis::All, ValueBasis::All) => RatioBasis::Value,
        (ValueBasis::Clean, ValueBasis::Clean) => RatioBasis::Clean,
        (ValueBasis::Cycles, ValueBasis::Cycles) if a.clock.is_some() && b.clock.is_some() => {
            if one_core(a, b) && !in_modes(a) && !in_modes(b) { RatioBasis::Cycles } else { RatioBasis::ClockTime }
        }
        _ => RatioBasis::Raw,
    }
}

/// Whether two results were measured on one class of cores of one machine.
fn one_core(a: &ComparedResult, b: &ComparedResult) -> bool {
    if relation(a.run, b.run) == Relation::AnotherMachine {
        return false;
    }
    let (Some(of_a), Some(of_b)) = (&a.run.session.sensors, &b.run.session.sensors) else { return false };
    match (core_class(of_a, a.result), core_class(of_b, b.result)) {
        (ResultCoreClass::Unknown, _) | (_, ResultCoreClass::Unknown) => false,
        (ResultCoreClass::Only(x), ResultCoreClass::Only(y)) => alike(of_a, x, of_b, y),
        (ResultCoreClass::Only(x) | ResultCoreClass::Of(x), ResultCoreClass::Only(y) | ResultCoreClass::Of(y)) => {
            let shared = of_a.exclusive[x].cpus.iter().any(|cpu| of_b.exclusive[y].cpus.contains(cpu));
            shared && alike(of_a, x, of_b, y)
        }
    }
}

/// The class of cores on which a result was measured.
enum ResultCoreClass {
    /// The only one that the run distinguishes.
    Only(usize),
    Of(usize),
    Unknown,
}

fn core_class(sensors: &SessionSensors, result: &BenchmarkResult) -> ResultCoreClass {
    if sensors.exclusive.len() == 1 {
        return ResultCoreClass::Only(0);
    }
    let mut classes = result.counted().into_iter().flat_map(cpus_of).map(|cpu| {
        let holds = |class: &model::ExclusiveCore| class.cpus.contains(&cpu);
        sensors.exclusive.iter().position(holds)
    });
    match classes.next() {
        Some(Some(first)) if classes.all(|class| class == Some(first)) => ResultCoreClass::Of(first),
        _ => ResultCoreClass::Unknown,
    }
}

/// CPUs that a sample was pinned to, else those that its sensors were read on.
fn cpus_of(sample: &Sample) -> Vec<u32> {
    if sample.placement.asked.is_empty() {
        let tracks = sample.sensors.iter().flat_map(|sensors| &sensors.tracks);
        tracks.map(|track| track.cpu).collect()
    } else {
        sample.placement.asked.clone()
    }
}

/// Classes whose exclusive cores answer the contention sensor alike. Cores that are built differently do not.
fn alike(a: &SessionSensors, x: usize, b: &SessionSensors, y: usize) -> bool {
    match (a.exclusive[x].ratio, b.exclusive[y].ratio) {
        (Some(one), Some(two)) => (one / two).ln().abs() <= RULES.compare.one_core,
        _ => true,
    }
}

/// A pair compared on its basis, with its session noise and both readings of core results.
pub(crate) struct PairFinding {
    pub(crate) finding: ResultFinding,
    pub(crate) floor: Option<FloorUsed>,
    pub(crate) basis: RatioBasis,
    pub(crate) core: Option<Box<CoreShifts>>,
}

/// Sets two results with single values against each other, the other's samples times `planted`.
///
/// # Errors
/// The reason why there is no ratio.
pub(crate) fn pair_finding(
    (a, b): (&ComparedResult, &ComparedResult),
    planted: f64,
    history: &History,
    options: &CompareOptions,
) -> Result<PairFinding, String> {
    let level = options.level;
    let basis = basis_of(a, b);
    let (floor, used) = floor_of(a, b, basis, history);
    let single = |shift: CompareShift| PairFinding {
        floor: used.filter(|_| shift.known.is_some()),
        finding: ResultFinding::Single(shift),
        basis,
        core: None,
    };
    match (basis, a.clock, b.clock) {
        (_, Some(at_a), Some(at_b)) if a.result.benchmark == model::CLOCK => {
            shift(&clock_view(a, at_a), &clock_view(b, at_b).scaled(planted), floor, level).map(single)
        }
        (RatioBasis::Cycles | RatioBasis::ClockTime, Some(at_a), Some(at_b)) => {
            let core = core_shifts((a, at_a), (b, at_b), planted, history, level)?;
            let judged = if basis == RatioBasis::Cycles { &core.cycles } else { &core.time };
            Ok(PairFinding { core: Some(Box::new(core.clone())), ..single(judged.clone()) })
        }
        (RatioBasis::Raw, ..) => {
            let (x, y) = (ResultView::raw(a.result), ResultView::raw(b.result));
            shift(&x, &y.scaled(planted), floor, level).map(single)
        }
        _ => {
            let (x, y) = (ResultView::stated(a.result), ResultView::stated(b.result));
            shift(&x, &y.scaled(planted), floor, level).map(single)
        }
    }
}

/// The session noise on a basis. For the conditions of a machine it is only the error of reading the clock. For times
/// at the clocks of two sessions it is that of cycles plus the error of both clocks: the clocks themselves are no
/// noise.
pub(crate) fn floor_of(
    a: &ComparedResult,
    b: &ComparedResult,
    basis: RatioBasis,
    history: &History,
) -> (Floor, Option<FloorUsed>) {
    if is_condition(&a.result.benchmark) {
        let clock = a.result.benchmark == model::CLOCK;
        return (if clock { Floor::known(RESOLUTION) } else { Floor::NONE }, None);
    }
    let cycles = matches!(basis, RatioBasis::Cycles | RatioBasis::ClockTime);
    let (floor, used) = history.floor((a.run, a.result), (b.run, b.result), cycles);
    match (basis, a.clock.zip(b.clock)) {
        (RatioBasis::ClockTime, Some((x, y))) => (floor.beside(clock_shift(x, y).1), used),
        _ => (floor, used),
    }
}

/// The clock of a run as a result: the one at which core results are compared, so that its row and the sentences about
/// it have one ratio. Its samples are consecutive parts of one run rather than independent draws.
fn clock_view<'a>(one: &ComparedResult<'a>, clock: ShownClock) -> ResultView<'a> {
    let outcome = match one.result.outcome.estimate() {
        Some(stated) => Cow::Owned(Outcome::Measured(clock.estimate(stated))),
        None => Cow::Borrowed(&one.result.outcome),
    };
    ResultView { metric: &one.result.metric, outcome, values: Vec::new(), rounding: 0.0 }
}

/// Errors of the logarithm of the ratio of two clocks.
pub(crate) fn clock_shift(a: ShownClock, b: ShownClock) -> (f64, f64) {
    ((b.hertz / a.hertz).ln(), a.error().hypot(b.error()))
}

fn core_shifts(
    (a, at_a): (&ComparedResult, ShownClock),
    (b, at_b): (&ComparedResult, ShownClock),
    planted: f64,
    history: &History,
    level: f64,
) -> Result<CoreShifts, String> {
    let clock = clock_shift(at_a, at_b);
    let floor = history.floor((a.run, a.result), (b.run, b.result), true).0;
    let [x, y] = [a.result, b.result].map(|result| ResultView::at(result, at_a.hertz));
    let cycles = shift_of_ranks(&x, &y.scaled(planted), floor, level)?;
    let (x, y) = (ResultView::stated(a.result), ResultView::stated(b.result));
    let time = shift(&x, &y.scaled(planted), floor.beside(clock.1), level)?;
    let time = CompareShift { clock: Some(clock.1), ..time };
    Ok(CoreShifts { cycles, time, clock })
}
