//! A store to a protected page, without the signal that reports it.

use kernels::signal::{ProtectionFault, Signal, SignalCounter};

use super::signal_handle::Caught;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.protection_trap",
    title: "protection fault without its signal",
    about: "Stores to a read-only page, whose handler counts and returns. The cost of catching a signal, beyond \
            sending it, is subtracted. The trap and the kernel's check of the page remain.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "fault"),
    class: Class::Fault,
    stresses: &[Primitive::PageFault],
    sources: &[DefinitionSource::new("lmbench", "lat_sig prot", "McVoy & Staelin, USENIX ATC 1996")],
    paired: true,
    prepare,
    ..Benchmark::BLANK
};

fn prepare(_: &Parameters, _: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let signals = Rc::new(SignalCounter::install(Signal::User1)?);
    let faults = FaultsAndSends { faults: ProtectionFault::prepare()?, signals: Rc::clone(&signals) };
    Ok(Trial::paired(faults, Caught(signals)))
}

/// Faults, and for each a signal 0, since the signals of the other side are sent as well.
struct FaultsAndSends {
    faults: ProtectionFault,
    signals: Rc<SignalCounter>,
}

impl Kernel for FaultsAndSends {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let token = self.faults.raise(ops)?;
        for _ in 0..ops {
            self.signals.send_nothing()?;
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, done.ops)
    }
}
