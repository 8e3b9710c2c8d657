//! Catching a store to a protected page.

use kernels::signal::ProtectionFault;

use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.protection_fault",
    title: "protection fault",
    about: "Stores to a read-only page. The handler of the resulting signal counts and returns, and the store is \
            tried again. The time includes trap, delivery, handler and return.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "fault"),
    class: Class::Fault,
    stresses: &[Primitive::PageFault, Primitive::Signal],
    sources: &[DefinitionSource::new("lmbench", "lat_sig prot", "McVoy & Staelin, USENIX ATC 1996").other(WHOLE)],
    prepare: |_, _| Ok(Trial::one(Protected(ProtectionFault::prepare()?))),
    ..Benchmark::BLANK
};

const WHOLE: &str = "the source subtracts what catching a signal costs; see os.protection_trap";

struct Protected(ProtectionFault);

impl Kernel for Protected {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        Ok(BatchWork { ops, token: self.0.raise(ops)? })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}
