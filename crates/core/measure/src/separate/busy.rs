//! Tests whether two CPUs are threads of one core, whatever the system reports. It reads the contention sensor on one
//! of them with the other busy or idle, in random order, so that neighbours affect both alike.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use kernels::core_sensor::CoreSensors;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::Error;
use crate::subject::Stopper;

/// Trials of either kind: three in a row once suggested a shared core where there was none.
const TRIALS: usize = 20;
/// Most rounds of trials, if neighbours leave it open. Each uses a level that three chances cannot reach.
const ROUNDS: usize = 4;
/// Readings of a trial, whose median counts.
const READINGS: usize = 9;
/// Time that the other CPU is given to begin or to stop.
const SETTLE: Duration = Duration::from_millis(1);
/// Longest wait for the other CPU to begin its work.
const BEGIN: Duration = Duration::from_millis(50);
/// Time after which no further round begins.
const PATIENCE: Duration = Duration::from_secs(5);
/// Factor beyond which a busy other CPU shares the core: another thread slows six chains of adds down by far more, and
/// another core not at all.
const FACTOR: f64 = 1.05;
/// Quantile of the ratios of all trials at which a lower mode lies, if there is one, and its relative half-width.
const LOW: f64 = 0.1;
const SHARP: f64 = 0.01;
/// Trials of either kind in the lower mode that show separate cores.
const FEWEST_ALONE: usize = 8;
/// Level of the interval that decides.
const LEVEL: f64 = 0.999;

/// Result of a test of two CPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CoreRelation {
    /// They are threads of one core, and a busy other CPU slows the sensor down by this factor.
    OneCore(f64),
    SeparateCores,
    Undecided,
}

/// Tests these CPUs until they are decided, at most for some seconds.
pub(super) fn test([own, other]: [usize; 2], sensors: CoreSensors, stopper: &Stopper) -> Result<CoreRelation, Error> {
    let until = kernels::clock::now() + PATIENCE.as_nanos() as u64;
    let [mut idle, mut busy] = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        let more = trials(own, other, sensors)?;
        idle.extend(&more[0]);
        busy.extend(&more[1]);
        let relation = decided(&idle, &busy);
        if relation != CoreRelation::Undecided || stopper.asked() || kernels::clock::now() > until {
            return Ok(relation);
        }
    }
    Ok(CoreRelation::Undecided)
}

/// The result of the trials, each given by its cycles per add.
fn decided(idle: &[f64], busy: &[f64]) -> CoreRelation {
    let logs = |ratios: &[f64]| ratios.iter().map(|ratio| ratio.ln()).collect::<Vec<_>>();
    let shift = stats::hodges_lehmann::two_sample(&logs(idle), &logs(busy));
    let found = shift.and_then(|shift| Some((shift.estimate.exp(), shift.interval(LEVEL)?)));
    match found {
        Some((factor, interval)) if interval.low.exp() > FACTOR => CoreRelation::OneCore(factor),
        Some((_, interval)) if interval.high.exp() < FACTOR => CoreRelation::SeparateCores,
        // Neighbours make the interval wide, but leave some trials of either kind undisturbed.
        Some(_) if alone_in_both(idle, busy) => CoreRelation::SeparateCores,
        _ => CoreRelation::Undecided,
    }
}

/// Whether enough trials of either kind are in the sharp lower mode of all: a busy sibling thread would leave none in
/// it.
fn alone_in_both(idle: &[f64], busy: &[f64]) -> bool {
    let all: Vec<f64> = idle.iter().chain(busy).copied().collect();
    let Some(lowest) = stats::quantile::quantile(&all, LOW) else { return false };
    let alone = |row: &[f64]| row.iter().filter(|ratio| (**ratio / lowest - 1.0).abs() <= SHARP).count();
    [idle, busy].into_iter().all(|row| alone(row) >= FEWEST_ALONE)
}

/// Cycles per add on `own` in each trial, with the other CPU idle and with it busy.
fn trials(own: usize, other: usize, sensors: CoreSensors) -> Result<[Vec<f64>; 2], Error> {
    let mut order: Vec<bool> = (0..2 * TRIALS).map(|trial| trial < TRIALS).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(kernels::clock::now()));
    kernels::affinity::pin(&[own])?;
    let (busy, done, end) = (AtomicBool::new(false), AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let work = || {
            if kernels::affinity::pin(&[other]).is_err() {
                return;
            }
            while !end.load(Ordering::Relaxed) {
                if !busy.load(Ordering::Relaxed) {
                    std::thread::park_timeout(Duration::from_millis(20));
                } else if sensors.read().is_ok() {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        let helper = std::thread::Builder::new().name(format!("busy {other}")).spawn_scoped(scope, work);
        let found =
            helper.map_err(|error| Error::System(kernels::Error::os("start a thread", error))).and_then(|helper| {
                let mut found = [Vec::new(), Vec::new()];
                for with_busy in order {
                    busy.store(with_busy, Ordering::Relaxed);
                    helper.thread().unpark();
                    let trial = one_trial(sensors, with_busy, &done)?;
                    found[usize::from(with_busy)].extend(trial);
                }
                Ok(found)
            });
        end.store(true, Ordering::Relaxed);
        busy.store(false, Ordering::Relaxed);
        found
    })
}

/// The median of some readings. Nothing if the other CPU did not do its part: other work may keep it busy.
fn one_trial(sensors: CoreSensors, with_busy: bool, done: &AtomicU64) -> Result<Option<f64>, Error> {
    let began = kernels::clock::now();
    let before = done.load(Ordering::Relaxed);
    kernels::timer::sleep(SETTLE);
    while with_busy && done.load(Ordering::Relaxed) == before {
        if kernels::clock::now() - began > BEGIN.as_nanos() as u64 {
            return Ok(None);
        }
        std::hint::spin_loop();
    }
    let first = done.load(Ordering::Relaxed);
    let lengths = sensors.lengths();
    let mut ratios = Vec::with_capacity(READINGS);
    for _ in 0..READINGS {
        let reading = sensors.read()?;
        ratios.push(lengths.ratio(reading.clock_nanos, reading.contention_nanos));
    }
    let worked = done.load(Ordering::Relaxed) > first;
    Ok(if worked == with_busy { stats::median(&ratios) } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_trials_decide_and_a_neighbour_in_both_kinds_does_not() {
        let row = |centre: f64, seed: u32| -> Vec<f64> {
            (0..20_u32).map(|at| centre * (1.0 + 0.003 * f64::from((at * 7 + seed) % 5))).collect()
        };
        let siblings = decided(&row(0.25, 0), &row(0.45, 3));
        assert!(matches!(siblings, CoreRelation::OneCore(factor) if (factor - 1.8).abs() < 0.02), "{siblings:?}");
        assert_eq!(decided(&row(0.25, 0), &row(0.25, 3)), CoreRelation::SeparateCores);
        // A neighbour from another guest in half of the trials of either kind.
        let half = |seed: u32| {
            let neighbour = |(at, ratio): (usize, f64)| if at % 2 == 0 { ratio * 1.5 } else { ratio };
            row(0.25, seed).into_iter().enumerate().map(neighbour).collect::<Vec<_>>()
        };
        assert_eq!(decided(&half(0), &half(3)), CoreRelation::SeparateCores);
        // Two threads of one core, with other work on the second one.
        let scattered = |from: f64, seed: u32| -> Vec<f64> {
            (0..40_u32).map(|at| from * (1.0 + 0.02 * f64::from((at * 7 + seed) % 11))).collect()
        };
        assert_ne!(decided(&scattered(0.30, 0), &scattered(0.42, 3)), CoreRelation::SeparateCores);
        assert_ne!(decided(&scattered(0.40, 0), &scattered(0.42, 3)), CoreRelation::SeparateCores);
        assert_eq!(decided(&[], &row(0.4, 0)), CoreRelation::Undecided);
        assert_eq!(decided(&row(0.25, 0)[..3], &row(0.45, 0)[..3]), CoreRelation::Undecided, "three are no sample");
    }
}
