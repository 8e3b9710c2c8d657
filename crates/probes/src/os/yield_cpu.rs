//! Offering the CPU.

use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "os.yield",
    title: "yield",
    about: "Offers the CPU by sched_yield, with nobody on it who wants it: the scheduler looks and comes back.",
    metric: Metric::lower(Unit::Seconds, "call"),
    class: Class::Compute,
    stresses: &[Primitive::SyscallEntry, Primitive::ContextSwitch],
    sources: &[Source::new("POSIX", "sched_yield", "sched_yield(2)")],
    prepare: |_, _| Ok(Trial::one(Yield)),
    ..Probe::BLANK
};

struct Yield;

impl Kernel for Yield {
    fn batch(&mut self, ops: u64) -> Result<Work, Fault> {
        let mut offered = 0;
        for _ in 0..ops {
            sys::process::raw::yield_now();
            offered += 1;
        }
        Ok(Work { ops, token: offered })
    }

    fn check(&mut self, done: &Work) -> Result<(), Fault> {
        Fault::unless_equal(done.token, done.ops)
    }
}
