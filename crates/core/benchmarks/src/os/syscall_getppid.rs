//! The minimal system call.

use kernels::process::raw::getppid;
use os::process::parent_pid;

use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.syscall_getppid",
    title: "getppid system call",
    about: "Asks the kernel for the parent's process ID, past any copy that a library keeps: entry into the kernel \
            and back.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "call"),
    class: Class::Compute,
    stresses: &[Primitive::SyscallEntry],
    key: &[(41, "system call", "")],
    sources: &[
        DefinitionSource::new("lmbench", "lat_syscall null", "McVoy & Staelin, USENIX ATC 1996"),
        DefinitionSource::new("perf", "bench syscall basic", "tools/perf/bench/syscall.c of Linux"),
    ],
    prepare: |_, _| Ok(Trial::one(GetppidKernel)),
    ..Benchmark::BLANK
};

struct GetppidKernel;

/// The number of the parent is 0 if it is in another namespace: one is added to each so that calls are counted.
impl Kernel for GetppidKernel {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut sum = 0_u64;
        for _ in 0..ops {
            sum += getppid() as u64 + 1;
        }
        Ok(BatchWork { ops, token: sum })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, done.ops * (parent_pid() as u64 + 1))
    }
}
