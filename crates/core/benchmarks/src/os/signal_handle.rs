//! Catching a signal.

use kernels::signal::{Signal, SignalCounter};

use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.signal_handle",
    title: "signal handling",
    about: "The process sends itself a signal, which a handler counts. Sending signal 0, which only checks, is \
            subtracted. Delivery, handler and return remain.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "signal"),
    class: Class::Compute,
    stresses: &[Primitive::Signal],
    usual: true,
    sources: &[
        DefinitionSource::new("BaBar", "table 4, signal handling", "T. J. Pavel, CHEP 98"),
        DefinitionSource::new("lmbench", "lat_sig catch", "McVoy & Staelin, USENIX ATC 1996"),
    ],
    paired: true,
    prepare,
    ..Benchmark::BLANK
};

/// Signals sent to oneself and caught.
pub(super) struct Caught(pub(super) Rc<SignalCounter>);
struct Sent(Rc<SignalCounter>);

fn prepare(_: &Parameters, _: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let handler = Rc::new(SignalCounter::install(Signal::User1)?);
    Ok(Trial::paired(Caught(Rc::clone(&handler)), Sent(handler)))
}

impl Kernel for Caught {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let before = self.0.count();
        for _ in 0..ops {
            self.0.send()?;
        }
        Ok(BatchWork { ops, token: self.0.count() - before })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}

impl Kernel for Sent {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let (before, mut sent) = (self.0.count(), 0);
        for _ in 0..ops {
            self.0.send_nothing()?;
            sent += 1;
        }
        BenchmarkError::unless_equal(self.0.count(), before)?;
        Ok(BatchWork { ops, token: sent })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}
