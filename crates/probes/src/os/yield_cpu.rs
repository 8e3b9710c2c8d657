//! Yielding the CPU.

use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "os.yield",
    title: "yield",
    about: "Offers the CPU by sched_yield, while no other thread wants it: the scheduler searches and returns.",
    metric: ProbeMetric::lower(Unit::Seconds, "call"),
    class: Class::Compute,
    stresses: &[Primitive::SyscallEntry, Primitive::ContextSwitch],
    sources: &[DefinitionSource::new("POSIX", "sched_yield", "sched_yield(2)")],
    prepare: |_, _| Ok(Trial::one(Yield)),
    ..Probe::BLANK
};

struct Yield;

impl Kernel for Yield {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        let mut offered = 0;
        for _ in 0..ops {
            sys::process::raw::yield_now();
            offered += 1;
        }
        Ok(BatchWork { ops, token: offered })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        ProbeError::unless_equal(done.token, done.ops)
    }
}
