//! Polling descriptors by `epoll`.

use std::time::Duration;

use kernels::poll::Epoll;

use super::descriptors::{DESCRIPTORS, Descriptors};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.epoll",
    title: "epoll",
    about: "Asks epoll_wait which of many pipes are readable; one is. The kernel keeps a list of pipes that may be \
            ready.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "call"),
    class: Class::Compute,
    stresses: &[Primitive::Polling, Primitive::SyscallEntry],
    sources: &[DefinitionSource::new("Linux", "epoll_wait", "epoll(7)")],
    parameters: &[DESCRIPTORS],
    prepare,
    ..Benchmark::BLANK
};

struct Wait {
    epoll: Epoll,
    descriptors: Descriptors,
}

fn prepare(at: &Parameters, _: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let descriptors = Descriptors::open(at)?;
    let epoll = Epoll::new(descriptors.waiting.len())?;
    for (place, file) in descriptors.waiting.iter().enumerate() {
        epoll.add(file, place as u64 + 1)?;
    }
    Ok(Trial::one(Wait { epoll, descriptors }))
}

impl Kernel for Wait {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut named = 0;
        for _ in 0..ops {
            named += self.epoll.wait(Some(Duration::ZERO))?.sum::<u64>();
        }
        Ok(BatchWork { ops, token: named })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        // Only the last one is ready, each time.
        BenchmarkError::unless_equal(done.token, done.ops * self.descriptors.waiting.len() as u64)
    }
}
