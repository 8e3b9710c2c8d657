//! Results of two CPUs that a host had nearer to each other in one of two sessions.
//!
//! Two virtual CPUs behind one cache and behind two caches are two different machines for results that use both. Such a
//! difference does not concern the machine, its system or any change between the sessions.

use model::{BenchmarkResult, CpuDistance, Run};

use super::relation::Relation;
use super::session::relation;

/// Whether the CPUs of two results of one machine had moved in one of its two sessions.
pub(super) fn elsewhere((a, x): (&Run, Option<&BenchmarkResult>), (b, y): (&Run, Option<&BenchmarkResult>)) -> bool {
    let (Some(x), Some(y)) = (x, y) else { return false };
    let of = |run: &Run| run.session.sensors.as_ref().map(|read| read.distances.clone()).unwrap_or_default();
    let others = of(b);
    let moved = |one: &CpuDistance| others.iter().any(|other| other.cpus == one.cpus && !other.is_like(one.picos));
    matches!(relation(a, b), Relation::SameSession | Relation::AnotherSession)
        && of(a).iter().filter(|one| moved(one)).any(|one| uses(x, one.cpus) && uses(y, one.cpus))
}

/// Whether most samples of a result had one thread or process on each of two CPUs.
fn uses(result: &BenchmarkResult, cpus: [u32; 2]) -> bool {
    let both = result.samples.iter().filter(|sample| {
        let seen = &sample.placement.seen;
        let on = |cpu: u32| seen.iter().position(|party| party.contains(&cpu));
        // One thread that was moved from one to the other does not use both.
        seen.len() > 1 && matches!((on(cpus[0]), on(cpus[1])), (Some(one), Some(other)) if one != other)
    });
    2 * both.count() > result.samples.len()
}
