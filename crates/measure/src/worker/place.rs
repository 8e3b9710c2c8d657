//! Were the parties where they should be, and did the outside leave the launch alone?

use model::{Invalid, Placement};
use probes::Bench;
use sys::clock::Watch;
use sys::usage::CpuTimes;

/// Share of a launch's CPU time that the hypervisor may take before the launch is repeated.
const MOST_STEAL: f64 = 0.02;
/// Seconds of a tick of the kernel's CPU accounting.
const TICK: f64 = 0.01;

/// Watches a launch from outside its work.
pub(super) struct Guard {
    watch: Watch,
    times: Vec<(usize, CpuTimes)>,
    began: u64,
    placement: Placement,
}

impl Guard {
    /// Starts watching; parties are seen where they are now.
    pub(super) fn begin(bench: &Bench) -> Self {
        let mut guard =
            Self { watch: Watch::start(), times: times(), began: sys::clock::now(), placement: asked(bench) };
        guard.look(bench);
        guard
    }

    fn look(&mut self, bench: &Bench) {
        let seen = &mut self.placement.seen;
        let parties = 1 + bench.watched().iter().map(|watched| watched.party).max().unwrap_or(0);
        seen.resize(parties.max(seen.len()), Vec::new());
        if let Ok(cpu) = sys::affinity::current() {
            note(&mut seen[0], cpu);
        }
        for watched in bench.watched() {
            if let Ok(cpu) = sys::affinity::last_of(watched.pid) {
                note(&mut seen[watched.party], cpu);
            }
        }
    }

    /// Ends watching: where the parties were, the share of time stolen, and what makes the launch invalid.
    pub(super) fn end(mut self, bench: &Bench) -> (Placement, Option<f64>, Option<Invalid>) {
        self.look(bench);
        let wall = (sys::clock::now() - self.began) as f64 * 1e-9;
        let steal = self.steal(bench, wall);
        let disturbed = self.watch.disturbed();
        let invalid = if let Some(slept) = disturbed.suspended {
            Some(Invalid::Suspended(slept.as_secs_f64()))
        } else if let Some(jump) = disturbed.clock_jump {
            Some(Invalid::ClockJump(jump.as_secs_f64()))
        } else if !self.placement.holds() {
            Some(Invalid::Misplaced(self.placement.clone()))
        } else {
            steal.filter(|(_, certain)| *certain > MOST_STEAL).map(|(share, _)| Invalid::Steal(share))
        };
        (self.placement, steal.map(|(share, _)| share), invalid)
    }

    /// Share of the launch's CPU time that was stolen, and the share that certainly was: counters step a tick at a time, so one
    /// step may have come from almost nothing.
    fn steal(&self, bench: &Bench, wall: f64) -> Option<(f64, f64)> {
        let after = times();
        let cpus = if bench.cpus().is_empty() { bench.allowed() } else { bench.cpus() };
        let mut worst: Option<(f64, f64)> = None;
        for (cpu, before) in self.times.iter().filter(|(cpu, _)| cpus.contains(cpu)) {
            let now = after.iter().find(|(other, _)| other == cpu)?;
            let ticks = now.1.since(before).steal as f64;
            let share = (ticks * TICK / wall, (ticks - 1.0).max(0.0) * TICK / wall);
            worst = Some(worst.map_or(share, |worst| if share.0 > worst.0 { share } else { worst }));
        }
        worst
    }
}

fn note(seen: &mut Vec<u32>, cpu: usize) {
    let cpu = u32::try_from(cpu).unwrap_or(u32::MAX);
    if !seen.contains(&cpu) {
        seen.push(cpu);
    }
}

fn asked(bench: &Bench) -> Placement {
    let parties = 1 + bench.watched().iter().map(|watched| watched.party).max().unwrap_or(0);
    let asked = bench.cpus().iter().take(parties).map(|cpu| u32::try_from(*cpu).unwrap_or(u32::MAX)).collect();
    Placement { asked, seen: Vec::new() }
}

fn times() -> Vec<(usize, CpuTimes)> {
    sys::usage::per_cpu_times().unwrap_or_default()
}
