//! Launches that wait until their core is seen unshared. Neighbours stay for hundredths to tenths of a second, so that
//! a launch that begins beside one is lost in most cases, and one that begins on a free core counts in most. What does
//! not depend on the core goes first.

use std::time::Duration;

use model::{Invalid, Launch, ValueBasis};
use os::topology::{CpuRelation, relation};

use super::MeasureSession;
use super::group::LaunchGroup;
use crate::references;
use crate::step::ReferenceSetting;

/// First launches of a figure that never wait: they are what was observed, and say whether contention is the machine's.
const OBSERVED: usize = 10;
/// Seconds of a launch up to which it waits: during a longer one neighbours come and go anyway.
const SHORT: f64 = 0.1;
/// Time between two looks at cores that are all shared, and looks of a round after which it ends without what still
/// waits.
const PAUSE: Duration = Duration::from_millis(2);
const LOOKS: u32 = 150;
/// Rounds in a row that went without a figure, after which a launch of it no longer waits.
const PATIENCE: u32 = 4;
/// Readings of a look at a core.
const ROW: usize = 3;
/// Other CPUs on which a look is taken for one launch.
const OTHERS: usize = 3;

/// What is known of cores for launches that wait.
#[derive(Debug, Default)]
pub(super) struct CoreLooks {
    /// When each CPU was last seen beside a neighbour, in seconds of the session.
    shared: Vec<(usize, f64)>,
    /// Looks of this round at which all that was left to do waited.
    idle: u32,
}

/// Where a launch begins, and after what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LaunchStart {
    /// Another CPU than the one on which its figure is placed.
    pub(super) cpu: Option<usize>,
    /// It began when its core was seen unshared, or after it had waited for that in vain.
    pub(super) awaited: bool,
}

/// How a launch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// Now.
    At(LaunchStart),
    /// Later in this round: it waits for its core.
    Later,
    /// Not in this round: its neighbour has not gone yet.
    NextRound,
}

impl MeasureSession<'_> {
    /// A round begins.
    pub(super) fn begin_looks(&mut self) {
        self.looks.idle = 0;
    }

    /// How the next launch of these figures in a round begins; `again` after one that was excluded.
    pub(super) fn begins(&mut self, group: &LaunchGroup, again: bool) -> Begins {
        let figures = &group.0;
        let may_wait = figures.iter().all(|index| self.may_wait(*index));
        let in_vain = may_wait && figures.iter().any(|index| self.progress[*index].passed_over >= PATIENCE);
        let waits = may_wait && !in_vain;
        let spoilt = again && figures.iter().all(|index| self.is_filtered(*index) && self.was_contended(*index));
        if !(waits || spoilt) {
            return Begins::At(LaunchStart { cpu: None, awaited: in_vain });
        }
        match self.find_core(figures) {
            Some(start) => Begins::At(start),
            None if waits => Begins::Later,
            None => Begins::NextRound,
        }
    }

    /// Whether launches of a figure wait: they are filtered and short, and what was observed is known.
    fn may_wait(&self, index: usize) -> bool {
        let seconds = self.progress[index].seconds;
        self.is_filtered(index)
            && seconds > 0.0
            && seconds <= SHORT
            && self.run.figures[index].launches.iter().filter(|launch| !launch.awaited).count() >= OBSERVED
    }

    /// Whether a figure is one of undisturbed batches, which neighbours spoil.
    fn is_filtered(&self, index: usize) -> bool {
        let basis = self.run.figures[index].basis();
        matches!(basis, ValueBasis::Cycles | ValueBasis::Undisturbed) && !self.progress[index].cpus.is_empty()
    }

    /// Where a launch of these figures finds the core to itself now; `None` while it has neighbours. A core figure is
    /// one of any core of its class, so that it takes another CPU behind the same cache where its own has a neighbour.
    fn find_core(&mut self, figures: &[usize]) -> Option<LaunchStart> {
        let on = |cpu: Option<usize>| LaunchStart { cpu, awaited: true };
        let Some(setting) = self.reference_setting() else { return Some(on(None)) };
        // What the readings of a run say of its cores must not depend on when launches begin.
        self.sample();
        let mut cpus: Vec<usize> =
            figures.iter().flat_map(|index| self.progress[*index].cpus.iter().copied()).collect();
        cpus.sort_unstable();
        cpus.dedup();
        if cpus.iter().all(|cpu| self.is_unshared_now(&setting, *cpu)) {
            return Some(on(None));
        }
        let core = figures.iter().all(|index| *self.run.figures[*index].basis() == ValueBasis::Cycles);
        let [own] = cpus[..] else { return None };
        let others = if core { self.equals_of(own) } else { Vec::new() };
        others.into_iter().find(|cpu| self.is_unshared_now(&setting, *cpu)).map(|cpu| on(Some(cpu)))
    }

    /// Other CPUs of the same class of cores behind the same cache, each of another core.
    fn equals_of(&self, own: usize) -> Vec<usize> {
        let Some(machine) = &self.run.machine.topology else { return Vec::new() };
        let alike = |cpu: &usize| {
            relation(machine, own, *cpu) == Some(CpuRelation::SameCache) && machine.class(*cpu) == machine.class(own)
        };
        self.allowed.iter().copied().filter(alike).take(OTHERS).collect()
    }

    /// Whether no neighbour is seen on a CPU's core. One that was seen a moment ago is still there.
    fn is_unshared_now(&mut self, setting: &ReferenceSetting, cpu: usize) -> bool {
        let now = self.elapsed();
        let seen = self.looks.shared.iter().find(|(known, _)| *known == cpu);
        if seen.is_some_and(|(_, when)| now - when < PAUSE.as_secs_f64()) {
            return false;
        }
        let Some(unshared) = setting.unshared_on(&[cpu]) else { return true };
        let readings = self.engine.read_references(setting.lengths, cpu, ROW);
        let shared = readings.iter().filter(|reading| {
            !references::is_unshared(setting.lengths.ratio(reading.clock, reading.contention), unshared[0])
        });
        let free = 2 * shared.count() <= readings.len();
        self.looks.shared.retain(|(known, _)| *known != cpu);
        if !free {
            self.looks.shared.push((cpu, self.elapsed()));
        }
        free
    }

    /// Notes the end of a round that still had these groups waiting.
    pub(super) fn pass_over(&mut self, waiting: impl Iterator<Item = LaunchGroup>) {
        waiting.flat_map(|group| group.0).for_each(|index| self.progress[index].passed_over += 1);
    }

    /// Lets a moment pass while all cores are shared and nothing else is to be launched. False once a round has waited
    /// for long enough.
    pub(super) fn pause(&mut self) -> bool {
        self.looks.idle += 1;
        if self.looks.idle > LOOKS {
            return false;
        }
        self.rest_for(PAUSE);
        true
    }

    /// The host had the CPUs of a figure elsewhere in its last launch: that lasts for seconds, and another one now
    /// would be in vain.
    pub(super) fn is_moved(&self, index: usize) -> bool {
        let moved = |launch: &Launch| matches!(launch.invalid, Some(Invalid::Moved { .. }));
        self.run.figures[index].launches.last().is_some_and(moved)
    }

    /// Whether the last launch of a figure was beside a neighbour.
    fn was_contended(&self, index: usize) -> bool {
        let contended = |launch: &Launch| matches!(launch.invalid, Some(Invalid::Contended { .. }));
        self.run.figures[index].launches.last().is_some_and(contended)
    }
}
