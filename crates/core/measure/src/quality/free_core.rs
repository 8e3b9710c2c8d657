//! Where and when a sample finds a core to itself. Neighbours stay for hundredths to tenths of a second. A sample that
//! begins next to one is mostly lost; a sample that begins on a free core mostly counts.

use std::time::Duration;

use model::{BenchmarkResult, Invalid, RULES, Run, ValueBasis};
use os::topology::{CpuRelation, relation};

use super::Quality;
use super::batch::is_exclusive;
use crate::subject::Host;
use crate::worker::SensorSetting;

/// Time between two readings of cores that are all shared.
pub(crate) const PAUSE: Duration = Duration::from_millis(2);

/// When each CPU last had a neighbour, in seconds of the session.
#[derive(Debug, Default)]
pub(super) struct FreeCores(Vec<(usize, f64)>);

/// Where a sample begins, and whether it waited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Start {
    /// Another CPU than the one on which its result is placed.
    pub(crate) cpu: Option<usize>,
    /// It began when its core was seen exclusive, or after waiting for that without success.
    pub(crate) waited: bool,
}

/// How a sample begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Starts {
    /// Now.
    At(Start),
    /// Later in this round: it waits for its core.
    Later,
    /// Not in this round: its neighbour has not gone yet.
    NextRound,
}

/// A result that is about to be launched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Next<'a> {
    pub(crate) index: usize,
    pub(crate) cpus: &'a [usize],
    /// Seconds of a sample.
    pub(crate) seconds: f64,
    /// Rounds in a row that ended while it waited.
    pub(crate) passed_over: u32,
}

impl Quality {
    /// How the next sample of these results in a round begins; `again` after one that was excluded.
    pub(crate) fn starts(
        &mut self,
        run: &mut Run,
        host: &mut dyn Host,
        now: f64,
        results: &[Next<'_>],
        again: bool,
    ) -> Starts {
        let filtered = |next: &Next<'_>| is_filtered(&run.results[next.index]) && !next.cpus.is_empty();
        let may_wait = results.iter().all(|next| filtered(next) && may_wait(&run.results[next.index], next.seconds));
        let in_vain = may_wait && results.iter().any(|next| next.passed_over >= RULES.quality.patience);
        let waits = may_wait && !in_vain;
        let spoilt = again && results.iter().all(|next| filtered(next) && was_shared_core(&run.results[next.index]));
        if !(waits || spoilt) {
            return Starts::At(Start { cpu: None, waited: in_vain });
        }
        match self.find_core(run, host, now, results) {
            Some(start) => Starts::At(start),
            None if waits => Starts::Later,
            None => Starts::NextRound,
        }
    }

    /// Where a sample of these results can have the core to itself now; `None` while it has neighbours. A core result
    /// may use any core of its class, so it takes another CPU behind the same cache if its own has a neighbour.
    fn find_core(&mut self, run: &mut Run, host: &mut dyn Host, now: f64, results: &[Next<'_>]) -> Option<Start> {
        let on = |cpu: Option<usize>| Start { cpu, waited: true };
        let Some(setting) = self.setting(run) else { return Some(on(None)) };
        // The times of samples must not influence the run's evidence about its cores.
        self.sample(run, host, now);
        let mut cpus: Vec<usize> = results.iter().flat_map(|next| next.cpus.iter().copied()).collect();
        cpus.sort_unstable();
        cpus.dedup();
        if cpus.iter().all(|cpu| self.is_free(&setting, host, now, *cpu)) {
            return Some(on(None));
        }
        let core = results.iter().all(|next| *run.results[next.index].basis() == ValueBasis::Cycles);
        let [own] = cpus[..] else { return None };
        let others = if core { self.equals_of(run, own) } else { Vec::new() };
        others.into_iter().find(|cpu| self.is_free(&setting, host, now, *cpu)).map(|cpu| on(Some(cpu)))
    }

    /// Other CPUs of the same class of cores behind the same cache, each of another core.
    fn equals_of(&self, run: &Run, own: usize) -> Vec<usize> {
        let Some(machine) = &run.machine.topology else { return Vec::new() };
        let alike = |cpu: &usize| {
            relation(machine, own, *cpu) == Some(CpuRelation::SameCache) && machine.class(*cpu) == machine.class(own)
        };
        self.allowed.iter().copied().filter(alike).take(RULES.quality.other_cores as usize).collect()
    }

    /// Whether no neighbour is seen on a CPU's core. One that was seen a moment ago is still there.
    fn is_free(&mut self, setting: &SensorSetting, host: &mut dyn Host, now: f64, cpu: usize) -> bool {
        let seen = self.free.0.iter().find(|(known, _)| *known == cpu);
        if seen.is_some_and(|(_, when)| now - when < PAUSE.as_secs_f64()) {
            return false;
        }
        let Some(exclusive) = setting.exclusive_on(&[cpu]) else { return true };
        let readings = host.read_sensors(setting.lengths, cpu, RULES.quality.readings as usize);
        let shared = readings
            .iter()
            .filter(|reading| !is_exclusive(setting.lengths.ratio(reading.clock, reading.contention), exclusive[0]));
        let free = 2 * shared.count() <= readings.len();
        self.free.0.retain(|(known, _)| *known != cpu);
        if !free {
            self.free.0.push((cpu, now));
        }
        free
    }
}

/// Whether samples of a result wait for their core: they are short, and a raw value is known. Neighbours come and go
/// during a longer one anyway.
fn may_wait(result: &BenchmarkResult, seconds: f64) -> bool {
    let raw = result.samples.iter().filter(|sample| !sample.waited_for_core).count();
    seconds > 0.0 && seconds <= RULES.quality.waiting_seconds && raw >= RULES.quality.observed_samples as usize
}

/// Whether a result is one of clean batches, which neighbours spoil.
fn is_filtered(result: &BenchmarkResult) -> bool {
    matches!(result.basis(), ValueBasis::Cycles | ValueBasis::Clean)
}

fn was_shared_core(result: &BenchmarkResult) -> bool {
    let last = result.samples.last().and_then(|sample| sample.invalid.as_ref());
    matches!(last, Some(Invalid::SharedCore { .. }))
}

/// Whether the host had moved the CPUs of a result in its last sample. That lasts for seconds, so another sample now
/// would be lost too.
pub(crate) fn is_moved(result: &BenchmarkResult) -> bool {
    let last = result.samples.last().and_then(|sample| sample.invalid.as_ref());
    matches!(last, Some(Invalid::Moved { .. }))
}
