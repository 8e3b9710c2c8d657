//! One cache line passed between two CPUs.

use std::sync::Arc;

use sys::kernel::handoff::{HandoffLine, Side};
use sys::topology::{CacheKind, Topology};

use crate::prelude::*;
use crate::team::ThreadTeam;

pub(super) static PROBE: Probe = Probe {
    id: "memory.core_to_core",
    title: "core-to-core transfer",
    about: "Two pinned threads pass a cache line to and fro: each waits until the number on it is its own, adds one, and the \
            other sees it. One operation is one hand-over, half a round trip. `pair` is the other CPU: another thread of the \
            same core (`sibling`), another core behind the same last-level cache (`near`), or one behind another (`far`).",
    metric: ProbeMetric::lower(Unit::Seconds, "hand-over"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::CoreToCore],
    axes: &[Axis::choice("pair", &["near", "far", "sibling"], &["near"])],
    batch: BatchRule { least: 2, ..BatchRule::FILL },
    prepare: |at, context| {
        let own = context.cpu(0).ok_or_else(|| Unsupported::new("two pinned CPUs are needed"))?;
        let pair = at.choice("pair")?;
        let machine = Topology::read()?;
        let other = context.allowed().iter().copied().find(|cpu| relation(&machine, own, *cpu) == Some(pair));
        let other = other.ok_or_else(|| Unsupported::new(missing(pair)))?;
        let sides = |member| Ok(if member == 0 { Side::Even } else { Side::Odd });
        let team = ThreadTeam::spawn(&[own, other], sides)?;
        for (member, tid) in team.tids().iter().enumerate() {
            context.watch(member + 1, *tid);
        }
        context.note(format!("between CPUs {own} and {other}"));
        Ok(Trial::one(CoreToCore { team, line: Arc::new(HandoffLine::new()), from: 0, now: 0 }))
    },
    ..Probe::BLANK
};

/// Relation of the second CPU to the first; `None` if it is the same.
fn relation(machine: &Topology, one: usize, other: usize) -> Option<&'static str> {
    let cpu = machine.cpu(one)?;
    if one == other {
        return None;
    }
    if cpu.siblings.contains(&other) {
        return Some("sibling");
    }
    let caches = machine.caches(one);
    let last = caches.iter().filter(|cache| cache.kind != CacheKind::Instruction).max_by_key(|cache| cache.level);
    let near = match last {
        Some(cache) if cache.shared.len() > cpu.siblings.len() => cache.shared.contains(&other),
        // Machines that do not report it, and cores without a common cache.
        _ => machine.cpu(other)?.package == cpu.package,
    };
    Some(if near { "near" } else { "far" })
}

fn missing(pair: &str) -> String {
    let what = match pair {
        "sibling" => "none is another thread of the same core",
        "near" => "none is another core behind the same last-level cache",
        _ => "none is behind another last-level cache",
    };
    format!("of the CPUs that this process may use, {what}")
}

struct CoreToCore {
    team: ThreadTeam<Side>,
    line: Arc<HandoffLine>,
    /// The number in the cache line before the batch.
    from: u64,
    /// The number that must be in the cache line.
    now: u64,
}

impl Kernel for CoreToCore {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        let token = self.team.start(ops)?;
        self.from = self.now;
        self.now += ops / 2 * 2;
        Ok(BatchWork { ops: ops / 2 * 2, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        // One side wrote the last number, the other the one before it.
        ProbeError::unless_equal(done.token, 2 * (self.from + done.ops) - 1)
    }

    fn ready(&mut self, ops: u64) -> Result<(), ProbeError> {
        let line = Arc::clone(&self.line);
        // Each side returns the number that it wrote last.
        self.team.prepare(ops, move |side| line.play(*side, ops / 2).unwrap_or_default())
    }

    fn granule(&self) -> u64 {
        2
    }

    fn declared(&self) -> Option<DeclaredCost> {
        Some(DeclaredCost { bytes_read: 8.0, bytes_written: 8.0, operations: 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_follow_the_topology() {
        let home = tempfile::tempdir().unwrap();
        let put = |name: &str, value: &str| {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, value).unwrap();
        };
        put("cpu/online", "0-5\n");
        for cpu in 0..6 {
            put(&format!("cpu/cpu{cpu}/topology/physical_package_id"), "0");
            let siblings = if cpu < 2 { "0-1".to_owned() } else { cpu.to_string() };
            put(&format!("cpu/cpu{cpu}/topology/core_cpus_list"), &siblings);
            put(&format!("cpu/cpu{cpu}/cache/index3/level"), "3");
            put(&format!("cpu/cpu{cpu}/cache/index3/type"), "Unified");
            put(&format!("cpu/cpu{cpu}/cache/index3/shared_cpu_list"), if cpu < 4 { "0-3" } else { "4-5" });
        }
        let machine = Topology::read_under(home.path()).unwrap();
        let from_0 = |other| relation(&machine, 0, other);
        assert_eq!((from_0(0), from_0(1), from_0(2), from_0(4)), (None, Some("sibling"), Some("near"), Some("far")));
    }
}
