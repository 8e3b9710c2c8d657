//! The barest system call.

use sys::process::{parent_pid, raw::getppid};

use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "os.syscall_getppid",
    title: "getppid system call",
    about: "Asks the kernel for the parent's number, past any copy that a library keeps: entry into the kernel and back.",
    metric: Metric::lower(Unit::Seconds, "call"),
    class: Class::Compute,
    stresses: &[Primitive::SyscallEntry],
    sources: &[
        Source::new("lmbench", "lat_syscall null", "McVoy & Staelin, USENIX ATC 1996"),
        Source::new("perf", "bench syscall basic", "tools/perf/bench/syscall.c of Linux"),
    ],
    prepare: |_, _| Ok(Trial::one(Ask)),
    ..Probe::BLANK
};

struct Ask;

/// The parent's number may be 0, where it lives in another namespace: one is added to each so that calls count.
impl Kernel for Ask {
    fn batch(&mut self, ops: u64) -> Result<Work, Fault> {
        let mut sum = 0_u64;
        for _ in 0..ops {
            sum += getppid() as u64 + 1;
        }
        Ok(Work { ops, token: sum })
    }

    fn check(&mut self, done: &Work) -> Result<(), Fault> {
        Fault::unless_equal(done.token, done.ops * (parent_pid() as u64 + 1))
    }
}
