//! The mix of system calls that BYTE counts.

use std::fs::File;
use std::os::fd::AsFd;

use kernels::process::raw::{byte_mix, umask};

use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.syscall_mix",
    title: "system call mix",
    about: "One count is five calls: dup and close of a descriptor, getpid, getuid and umask. No library answers any \
            of them.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "rounds of five calls"),
    class: Class::Compute,
    stresses: &[Primitive::SyscallEntry],
    operation: Some(Operation::new("system call", &[]).times(5.0)),
    sources: &[
        DefinitionSource::new("BYTE", "System Call Overhead", "UnixBench, src/syscall.c"),
        DefinitionSource::new("CyberLife", "System Call Overhead", "CyberLife Labs notes, 2004"),
    ],
    prepare,
    ..Benchmark::BLANK
};

struct Mix {
    null: File,
    mask: u32,
}

fn prepare(_: &Parameters, _: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let null =
        File::open("/dev/null").map_err(|error| Unsupported::new(format!("could not open /dev/null: {error}")))?;
    // The mask can be read only by setting it.
    let mask = umask(0o22);
    umask(mask);
    Ok(Trial::one(Mix { null, mask }))
}

impl Kernel for Mix {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut counts = 0;
        for _ in 0..ops {
            byte_mix(self.null.as_fd())?;
            counts += 1;
        }
        Ok(BatchWork { ops, token: counts })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        // The last count left its mask set.
        BenchmarkError::unless_equal(umask(self.mask), 0o22)?;
        umask(0o22);
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}

impl Drop for Mix {
    fn drop(&mut self) {
        umask(self.mask);
    }
}
