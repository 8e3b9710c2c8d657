//! A token passed around a ring of processes, and the same hops within one process.

use std::fs::File;

use crate::line::{peer_ended, pipe, receive, send};
use crate::peer_process::PeerProcess;
use crate::{BatchWork, BenchmarkContext, BenchmarkError, Kernel, Unsupported};

/// The array of one process: all are different, so that the sum of a lap proves that every process added its own.
struct PrivateArray {
    words: Vec<u64>,
}

impl PrivateArray {
    fn new(seed: u64, process: usize, bytes: usize) -> Self {
        Self { words: contents(seed, process, bytes).collect() }
    }

    /// The token after this process: one more, plus the sum of the array.
    #[inline]
    fn pass(&self, token: u64) -> u64 {
        std::hint::black_box(&self.words).iter().fold(token.wrapping_add(1), |sum, word| sum.wrapping_add(*word))
    }
}

fn contents(seed: u64, process: usize, bytes: usize) -> impl Iterator<Item = u64> {
    (0..bytes as u64 / 8).map(move |index| (seed ^ index).wrapping_mul(2 * process as u64 + 3))
}

/// The amount that a visit to one process adds to the token, from its definition.
fn added(seed: u64, process: usize, bytes: usize) -> u64 {
    contents(seed, process, bytes).fold(1, u64::wrapping_add)
}

/// Sends the token and receives it back.
#[inline]
pub(super) fn hop(to: &File, from: &File, token: u64) -> Result<u64, BenchmarkError> {
    send(to, &token.to_ne_bytes())?;
    let mut message = [0; 8];
    if receive(from, &mut message)? { Ok(u64::from_ne_bytes(message)) } else { Err(peer_ended()) }
}

/// This process is the first of the ring; it writes into the first pipe and reads from the last.
pub(super) struct ProcessRing {
    to: File,
    from: File,
    others: Vec<PeerProcess>,
    own: PrivateArray,
    /// The amount that a lap adds.
    lap: u64,
    began: u64,
    token: u64,
}

impl ProcessRing {
    /// Forks the other processes of a ring of `count`, each with an array of `bytes`.
    pub(super) fn close(context: &mut BenchmarkContext, count: usize, bytes: usize) -> Result<Self, Unsupported> {
        let seed = context.seed();
        let (mut from, to) = pipe()?;
        let mut to = to;
        let mut others = Vec::new();
        for process in 1..count {
            let (next_from, next_to) = pipe()?;
            // Every other process closes the near ends, so that the ring ends when this process ends.
            let (party, near) =
                PeerProcess::start(context, process, (to, next_from), (from, next_to), |(from, to)| {
                    let own = PrivateArray::new(seed, process, bytes);
                    let mut message = [0; 8];
                    while receive(&from, &mut message)? {
                        send(&to, &own.pass(u64::from_ne_bytes(message)).to_ne_bytes())?;
                    }
                    Ok(())
                })?;
            (to, from) = near;
            others.push(party);
        }
        let lap = (0..count).fold(0, |sum: u64, process| sum.wrapping_add(added(seed, process, bytes)));
        Ok(Self { to, from, others, own: PrivateArray::new(seed, 0, bytes), lap, began: seed, token: seed })
    }
}

impl Kernel for ProcessRing {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.token;
        let laps = ops / self.granule();
        for _ in 0..laps {
            self.token = self.own.pass(hop(&self.to, &self.from, self.token)?);
        }
        Ok(BatchWork { ops: laps * self.granule(), token: self.token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let laps = done.ops / self.granule();
        BenchmarkError::unless_equal(done.token, self.began.wrapping_add(self.lap.wrapping_mul(laps)))
    }

    fn granule(&self) -> u64 {
        self.others.len() as u64 + 1
    }
}

/// Several equal rings; each batch uses the next. The pages of a ring's stacks and pipes decide which of them displace
/// each other in the core's caches; with one ring they would be one random draw per sample.
pub(super) struct ProcessRings {
    rings: Vec<ProcessRing>,
    batches: usize,
}

impl ProcessRings {
    /// Laps of a ring before its batch.
    const WARM_LAPS: u64 = 3;

    /// Forks `rings` rings as [`ProcessRing::close`] does.
    pub(super) fn close(
        context: &mut BenchmarkContext,
        rings: usize,
        count: usize,
        bytes: usize,
    ) -> Result<Self, Unsupported> {
        let rings = (0..rings).map(|_| ProcessRing::close(context, count, bytes)).collect::<Result<_, _>>()?;
        Ok(Self { rings, batches: 0 })
    }

    fn ring(&mut self, batch: usize) -> &mut ProcessRing {
        let rings = self.rings.len();
        &mut self.rings[batch % rings]
    }
}

impl Kernel for ProcessRings {
    fn ready(&mut self, _: u64) -> Result<(), BenchmarkError> {
        let ring = self.ring(self.batches);
        ring.batch(Self::WARM_LAPS * ring.granule()).map(drop)
    }

    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.batches += 1;
        self.ring(self.batches - 1).batch(ops)
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        self.ring(self.batches - 1).check(done)
    }

    fn granule(&self) -> u64 {
        self.rings[0].granule()
    }
}

/// The same hops in one process.
pub(super) struct Exclusive {
    pipes: Vec<(File, File)>,
    own: PrivateArray,
    adds: u64,
    began: u64,
    token: u64,
}

impl Exclusive {
    /// Over `count` pipes, with one array of `bytes`.
    pub(super) fn new(seed: u64, count: usize, bytes: usize) -> Result<Self, Unsupported> {
        let pipes = (0..count).map(|_| pipe()).collect::<Result<_, _>>()?;
        Ok(Self {
            pipes,
            own: PrivateArray::new(seed, 0, bytes),
            adds: added(seed, 0, bytes),
            began: seed,
            token: seed,
        })
    }
}

impl Kernel for Exclusive {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.token;
        let laps = ops / self.granule();
        for _ in 0..laps {
            for (from, to) in &self.pipes {
                self.token = self.own.pass(hop(to, from, self.token)?);
            }
        }
        Ok(BatchWork { ops: laps * self.granule(), token: self.token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, self.began.wrapping_add(self.adds.wrapping_mul(done.ops)))
    }

    fn granule(&self) -> u64 {
        self.pipes.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lap_adds_every_array_once() {
        for (count, bytes) in [(2, 0), (8, 4096)] {
            let (mut token, mut lap) = (7_u64, 0_u64);
            for process in 0..count {
                let own = PrivateArray::new(3, process, bytes);
                assert_eq!(own.words.len(), bytes / 8);
                token = own.pass(token);
                lap = lap.wrapping_add(added(3, process, bytes));
            }
            assert_eq!(token, 7_u64.wrapping_add(lap));
            // A lap without one of the processes is detected: their amounts are different.
            let all: Vec<_> = (0..count).map(|process| added(3, process, bytes)).collect();
            assert!(bytes == 0 || all.iter().all(|one| all.iter().filter(|other| *other == one).count() == 1));
        }
    }

    #[test]
    fn batches_take_turns_on_several_rings_and_each_is_checked() {
        let mut context = BenchmarkContext::new(crate::SampleSetting::within("."));
        // In this process alone: tests have threads, and may not fork.
        let mut rings = ProcessRings::close(&mut context, 3, 1, 64).unwrap();
        for batch in 0..7 {
            rings.ready(4).unwrap();
            let done = rings.batch(4).unwrap();
            rings.check(&done).unwrap();
            let other = BatchWork { token: done.token.wrapping_add(1), ..done };
            assert!(rings.check(&other).is_err());
            assert_eq!((rings.batches, done.ops), (batch + 1, 4));
        }
        // Seven batches of four laps, with three laps before each: three of the first ring, two of each other one.
        let laps = |ring: &ProcessRing| {
            (0..).find(|laps: &u64| context.seed().wrapping_add(ring.lap.wrapping_mul(*laps)) == ring.token)
        };
        assert_eq!(rings.rings.iter().map(laps).collect::<Vec<_>>(), [Some(21), Some(14), Some(14)]);
    }

    #[test]
    fn one_process_hops_over_all_pipes() {
        let mut alone = Exclusive::new(5, 4, 64).unwrap();
        assert_eq!(alone.granule(), 4);
        let done = alone.batch(8).unwrap();
        assert_eq!(done.ops, 8);
        alone.check(&done).unwrap();
        assert_eq!(alone.pipes.len(), 4);
    }
}
