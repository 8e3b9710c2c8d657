//! Polling descriptors by `select`.

use std::os::fd::AsFd;
use std::time::Duration;

use kernels::poll::SelectSet;

use super::descriptors::{DESCRIPTORS, Descriptors};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.select",
    title: "select",
    about: "Asks select which of many pipes are readable; one is. The kernel checks each pipe.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "call"),
    class: Class::Compute,
    stresses: &[Primitive::Polling, Primitive::SyscallEntry],
    sources: &[DefinitionSource::new("lmbench", "lat_select", "McVoy & Staelin, USENIX ATC 1996")],
    parameters: &[DESCRIPTORS],
    prepare: |at, _| Ok(Trial::one(SelectKernel(Descriptors::open(at)?))),
    ..Benchmark::BLANK
};

struct SelectKernel(Descriptors);

impl Kernel for SelectKernel {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut set = SelectSet::new();
        for file in &self.0.waiting {
            set.add(file.as_fd())?;
        }
        let mut ready = 0;
        for _ in 0..ops {
            ready += set.wait(Some(Duration::ZERO))? as u64;
        }
        Ok(BatchWork { ops, token: ready })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}
