//! One cache line passed between two CPUs.

use std::sync::Arc;

use kernels::handoff::{HandoffLine, Side};
use model::Topology;
use os::topology::CpuRelation;

use crate::prelude::*;
use crate::team::ThreadTeam;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.core_to_core",
    title: "core-to-core transfer",
    about: "Two pinned threads pass a cache line back and forth. Each waits for its number on the line and adds one, \
            which the other sees. One operation is one hand-over, half a round trip. The second CPU is another thread \
            of the same core (`sibling`), a core behind the same last-level cache (`near`), or a core behind another \
            one (`far`).",
    metric: BenchmarkMetric::lower(Unit::Seconds, "hand-over"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::CoreToCore],
    usual: true,
    parameters: &[Parameter::choice("pair", &["near", "far", "sibling"], &["near"])],
    batch: BatchRule { least: 2, ..BatchRule::FILL },
    prepare: |at, context| {
        let own = context.cpu(0).ok_or_else(|| Unsupported::new("two pinned CPUs are needed"))?;
        let pair = at.choice("pair")?;
        let Ok(machine) = os::topology::read() else {
            let other = unknown(pair, own, context.allowed())?;
            context.use_too(other);
            context.note(format!(
                "between CPUs {own} and {other}, two that this process may use: the system does not tell which cache or core \
                 they share"
            ));
            return transfer([own, other], context);
        };
        let fits = |cpu: &usize| pair_of(&machine, own, *cpu) == Some(pair);
        // Cores of the same class where there are such.
        let other = context.allowed().iter().copied().filter(fits).min_by_key(|cpu| machine.class(*cpu));
        let other = other.ok_or_else(|| Unsupported::new(missing(pair)))?;
        context.use_too(other);
        context.note(format!("between CPUs {own} and {other}"));
        transfer([own, other], context)
    },
    ..Benchmark::BLANK
};

/// Passing a cache line between two CPUs; the first is this thread's.
pub(super) fn transfer(cpus: [usize; 2], context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let sides = |member| Ok(if member == 0 { Side::Even } else { Side::Odd });
    let team = ThreadTeam::spawn(&cpus, sides)?;
    for (member, tid) in team.tids().iter().enumerate() {
        context.watch(member + 1, *tid);
    }
    Ok(Trial::one(CoreToCore { team, line: Arc::new(HandoffLine::new()), from: 0, now: 0 }))
}

/// Relation of the second CPU to the first; `None` if it is the same.
fn pair_of(machine: &Topology, one: usize, other: usize) -> Option<&'static str> {
    let shared = |cpu| {
        machine.last_level(cpu).is_some_and(|(_, shared)| shared.len() > machine.core(cpu).map_or(1, |c| c.len()))
    };
    let behind = || machine.last_level(one).is_some_and(|(_, shared)| shared.contains(other));
    Some(match os::topology::relation(machine, one, other)? {
        CpuRelation::Same => return None,
        CpuRelation::Sibling => "sibling",
        // Sub-NUMA clusters share the last level.
        CpuRelation::SameCache | CpuRelation::OtherNode if behind() => "near",
        // Machines that do not tell, and cores that share no cache at all.
        CpuRelation::SameNode | CpuRelation::OtherNode if !shared(one) => "near",
        _ => "far",
    })
}

/// Another CPU where the system reports no caches and cores, as in a container without `/sys`. Any CPU may serve as a
/// near one; none is known to be a sibling or far.
fn unknown(pair: &str, own: usize, allowed: &[usize]) -> Result<usize, Unsupported> {
    if pair != "near" {
        return Err(Unsupported::new("the system does not tell which CPUs share a core or a cache"));
    }
    let other = allowed.iter().copied().find(|cpu| *cpu != own);
    other.ok_or_else(|| Unsupported::new("this process may use one CPU, and two are needed"))
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
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let token = self.team.start(ops)?;
        self.from = self.now;
        self.now += ops / 2 * 2;
        Ok(BatchWork { ops: ops / 2 * 2, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        // One side wrote the last number, the other the one before it.
        BenchmarkError::unless_equal(done.token, 2 * (self.from + done.ops) - 1)
    }

    fn ready(&mut self, ops: u64) -> Result<(), BenchmarkError> {
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
    fn without_topology_any_other_cpu_is_taken() {
        assert_eq!(unknown("near", 3, &[3, 5, 7]).unwrap(), 5);
        assert_eq!(unknown("near", 5, &[3, 5, 7]).unwrap(), 3);
        assert!(unknown("near", 3, &[3]).unwrap_err().to_string().contains("two are needed"));
        for pair in ["sibling", "far"] {
            assert!(unknown(pair, 3, &[3, 5]).unwrap_err().to_string().contains("does not tell"), "{pair}");
        }
    }

    #[test]
    fn pairs_follow_the_topology() {
        let of = |name: &str, others: [usize; 3]| {
            let recorded = testing::machine::RecordedMachine::named(name);
            let online = recorded.online.parse().unwrap();
            let machine = os::topology::of_files(&online, &|file| recorded.read(file));
            others.map(|other| pair_of(&machine, 0, other))
        };
        assert_eq!(of("epyc-7451", [0, 48, 2]), [None, Some("sibling"), Some("near")]);
        assert_eq!(of("epyc-7451", [3, 6, 24]), [Some("far"); 3]);
        assert_eq!(of("spr-snc4", [112, 1, 14]), [Some("sibling"), Some("near"), Some("near")]);
        assert_eq!(of("spr-snc4", [56, 168, 223]), [Some("far"); 3]);
        assert_eq!(of("altra-q80", [1, 40, 79]), [Some("near"); 3]);
    }
}
