//! The smallest useful system call.

use std::fs::File;

use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.syscall_write",
    title: "null system call",
    about: "Writes one byte to /dev/null. The kernel looks up the descriptor, calls a driver that does nothing, and \
            returns.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "call"),
    class: Class::Compute,
    stresses: &[Primitive::SyscallEntry],
    usual: true,
    key: &[(40, "system call", "")],
    sources: &[
        DefinitionSource::new("BaBar", "table 2, null syscall", "T. J. Pavel, CHEP 98"),
        DefinitionSource::new("lmbench", "lat_syscall write", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    prepare,
    ..Benchmark::BLANK
};

struct Write(File);

fn prepare(_: &Parameters, _: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let null = File::options().write(true).open("/dev/null");
    Ok(Trial::one(Write(null.map_err(|error| Unsupported::new(format!("could not open /dev/null: {error}")))?)))
}

impl Kernel for Write {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut taken = 0;
        for count in 0..ops {
            kernels::process::raw::write_byte(&self.0, count as u8)?;
            taken += 1;
        }
        Ok(BatchWork { ops, token: taken })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}
