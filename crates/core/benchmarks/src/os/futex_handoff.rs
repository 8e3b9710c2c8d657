//! Passing control back and forth by a futex.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use kernels::futex::{FutexScope, wait, wake};

use crate::peer_process::fold;
use crate::peer_thread::PeerThread;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.futex_handoff",
    title: "futex hand-off",
    about: "Two threads pass a word of memory back and forth. Each sleeps in the kernel until its turn and then wakes \
            the other. A mutex or a condition variable costs this when its other side sleeps.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "round trip"),
    class: Class::Ipc,
    stresses: &[Primitive::ContextSwitch, Primitive::Wakeup],
    sources: &[DefinitionSource::new("Linux", "futex", "futex(2)")],
    parameters: &[Parameter::placement(&["same_cpu"])],
    parties: Parties::Placed,
    prepare,
    ..Benchmark::BLANK
};

/// Even: this thread may go on. Odd: the peer may. `END`: neither.
type HandoffCount = AtomicU32;
const END: u32 = u32::MAX;

struct Handoff {
    count: Arc<HandoffCount>,
    peer: Option<PeerThread>,
    began: u32,
    at: u32,
}

fn prepare(_: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let count = Arc::new(HandoffCount::new(0));
    let theirs = Arc::clone(&count);
    let peer = PeerThread::start(context, 1, move || {
        loop {
            match theirs.load(Ordering::Acquire) {
                END => return Ok(()),
                mine if mine % 2 == 1 => {
                    theirs.store(mine + 1, Ordering::Release);
                    wake(&theirs, 1, FutexScope::Process)?;
                }
                other => drop(wait(&theirs, other, None, FutexScope::Process)?),
            }
        }
    })?;
    Ok(Trial::one(Handoff { count, peer: Some(peer), began: 0, at: 0 }))
}

impl Handoff {
    #[inline]
    fn trip(&mut self) -> Result<u32, BenchmarkError> {
        // Keeps the number below `END`.
        let given = if self.at >= END / 2 { 1 } else { self.at + 1 };
        self.count.store(given, Ordering::Release);
        wake(&self.count, 1, FutexScope::Process)?;
        while self.count.load(Ordering::Acquire) == given {
            wait(&self.count, given, None, FutexScope::Process)?;
        }
        self.at = self.count.load(Ordering::Acquire);
        Ok(self.at)
    }
}

impl Kernel for Handoff {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.at;
        let mut token = 0;
        for _ in 0..ops {
            token = fold(token, u64::from(self.trip()?));
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let (mut at, mut token) = (self.began, 0);
        for _ in 0..done.ops {
            at = if at >= END / 2 { 2 } else { at + 2 };
            token = fold(token, u64::from(at));
        }
        BenchmarkError::unless_equal(done.token, token)
    }

    fn each(&mut self, record: &mut Recorder) -> Result<(), BenchmarkError> {
        while record.remaining() > 0 {
            record.time(|| self.trip().map(drop))?;
        }
        Ok(())
    }
}

impl Drop for Handoff {
    fn drop(&mut self) {
        self.count.store(END, Ordering::Release);
        // A peer that has ended needs no waking.
        let _ = wake(&self.count, 1, FutexScope::Process);
        drop(self.peer.take());
    }
}
