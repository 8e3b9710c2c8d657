//! Cost of reading the clock.

use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.clock_read",
    title: "clock read",
    about: "Reads the monotonic clock through the C library. If the kernel maps its clock page (vDSO), the kernel is \
            not entered.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "read"),
    class: Class::Compute,
    stresses: &[Primitive::Clock],
    sources: &[DefinitionSource::new("Linux", "clock_gettime", "vdso(7)")],
    prepare: |_, _| Ok(Trial::one(Read { from: 0, to: 0 })),
    ..Benchmark::BLANK
};

struct Read {
    from: u64,
    to: u64,
}

impl Kernel for Read {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.from = kernels::clock::now();
        let (mut last, mut forward) = (self.from, 0);
        for _ in 0..ops {
            let next = kernels::clock::now();
            forward += u64::from(next >= last);
            last = next;
        }
        self.to = last;
        Ok(BatchWork { ops, token: forward })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        if self.to <= self.from && done.ops > 100 {
            return Err(BenchmarkError::new("the clock stood still"));
        }
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}
