//! Installing a signal handler.

use kernels::signal::{Signal, SignalCounter};

use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.signal_install",
    title: "signal handler installation",
    about: "Installs a signal handler with sigaction. Afterwards, outside the clock, a signal is sent to check that \
            it is caught.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "installation"),
    class: Class::Compute,
    stresses: &[Primitive::Signal, Primitive::SyscallEntry],
    sources: &[
        DefinitionSource::new("BaBar", "table 4, signal installation", "T. J. Pavel, CHEP 98"),
        DefinitionSource::new("lmbench", "lat_sig install", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    prepare: |_, _| Ok(Trial::one(Install(SignalCounter::install(Signal::User1)?))),
    ..Benchmark::BLANK
};

struct Install(SignalCounter);

impl Kernel for Install {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut installed = 0;
        for _ in 0..ops {
            self.0.reinstall()?;
            installed += 1;
        }
        Ok(BatchWork { ops, token: installed })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let before = self.0.count();
        self.0.send()?;
        BenchmarkError::unless_equal(self.0.count(), before + 1)?;
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}
