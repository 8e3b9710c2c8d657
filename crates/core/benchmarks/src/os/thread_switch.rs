//! Switching between threads of one process.

use std::fs::File;

use super::ring::{Exclusive, hop};
use crate::line::{pipe, receive, send};
use crate::peer_thread::PeerThread;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.thread_switch",
    title: "thread switch",
    about: "Two threads of one process pass a token over pipes. The same hops within one thread, over as many pipes, \
            are subtracted. The switch remains, without a change of address space. On two CPUs, the wake-up of the \
            other CPU remains.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "switch"),
    class: Class::Ipc,
    stresses: &[Primitive::ContextSwitch],
    sources: &[DefinitionSource::new("lmbench", "lat_ctx, between threads", "McVoy & Staelin, USENIX ATC 1996")],
    parameters: &[Parameter::placement(&["same_cpu"])],
    parties: Parties::Placed,
    paired: true,
    prepare,
    ..Benchmark::BLANK
};

/// The near files are declared first: dropping them ends the peer, which is then joined.
struct Between {
    to: File,
    from: File,
    _peer: PeerThread,
    began: u64,
    token: u64,
}

fn prepare(_: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let (far_from, to) = pipe()?;
    let (from, far_to) = pipe()?;
    let peer = PeerThread::start(context, 1, move || {
        let mut message = [0; 8];
        while receive(&far_from, &mut message)? {
            send(&far_to, &pass(u64::from_ne_bytes(message)).to_ne_bytes())?;
        }
        Ok(())
    })?;
    let seed = context.seed();
    Ok(Trial::paired(Between { to, from, _peer: peer, began: seed, token: seed }, Exclusive::new(seed, 2, 0)?))
}

/// The value that the peer returns for a token.
fn pass(token: u64) -> u64 {
    token.wrapping_add(3)
}

impl Kernel for Between {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.token;
        for _ in 0..ops / 2 {
            self.token = hop(&self.to, &self.from, self.token)?;
        }
        Ok(BatchWork { ops: ops / 2 * 2, token: self.token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, (0..done.ops / 2).fold(self.began, |token, _| pass(token)))
    }

    fn granule(&self) -> u64 {
        2
    }
}
