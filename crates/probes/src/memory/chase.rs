//! Common parts of the latency figures: a chain of pointers through an arena.

use sys::kernel::ring::{ChasePattern, ChaseRing};
use sys::memory::{Arena, Pages};

use crate::prelude::*;

/// Sets up to this size are walked once, outside the clock, before each batch of a pair, because the batch of the other
/// kernel has evicted them from the caches of the core; for larger sets this would take too long.
const REWARMED: u64 = 16 * MIB;

/// A walk along one chain. A batch is at least one whole lap.
pub(super) struct Chase {
    ring: ChaseRing<Arena>,
    from: u64,
    rewarm: bool,
}

impl Chase {
    /// A chain through a working set on pages of the size that the point specifies (base pages by default).
    pub(super) fn new(at: &Point, bytes: u64, order: ChasePattern, seed: u64) -> Result<Self, Unsupported> {
        let ring = ring(bytes, at.get("pages").unwrap_or("base").parse()?, order, seed)?;
        let from = ring.position();
        Ok(Self { ring, from, rewarm: false })
    }

    /// For one kernel of a pair.
    pub(super) fn alternated(self) -> Self {
        Self { rewarm: self.ring.lap() <= REWARMED / 64, ..self }
    }
}

/// A chain through `bytes` of fresh memory.
pub(super) fn ring(bytes: u64, pages: Pages, order: ChasePattern, seed: u64) -> Result<ChaseRing<Arena>, Unsupported> {
    let available = sys::memory::available_bytes()?;
    if bytes > available / 4 * 3 {
        return Err(Unsupported::new(format!("{} of memory are available", model::format_size(available / MIB * MIB))));
    }
    let arena = Arena::populated(bytes as usize, pages)?;
    ChaseRing::new(arena, order, seed).ok_or_else(|| Unsupported::new("the chain would have fewer than two links"))
}

impl Kernel for Chase {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        self.from = self.ring.position();
        Ok(BatchWork { ops, token: self.ring.chase(ops) })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        // A whole lap ends where it began: the end of a walk proves its steps beyond whole laps.
        ProbeError::unless_equal(Some(done.token), self.ring.position_after(self.from, done.ops))
    }

    fn ready(&mut self, _ops: u64) -> Result<(), ProbeError> {
        if self.rewarm {
            self.ring.chase(self.ring.lap());
        }
        Ok(())
    }

    fn granule(&self) -> u64 {
        self.ring.lap() + 1
    }

    fn declared(&self) -> Option<DeclaredCost> {
        Some(DeclaredCost { bytes_read: 8.0, bytes_written: 0.0, operations: 1.0 })
    }
}
