//! Common parts of the latency figures: a chain of pointers through an arena.

use sys::kernel::ring::{ChasePattern, ChaseRing};
use sys::memory::{Arena, Pages};

use crate::prelude::*;

/// Sets up to this size are walked once, outside the clock, before each batch of a pair, because the batch of the other
/// kernel has evicted them from the caches of the core; for larger sets this would take too long.
const REWARMED: u64 = 16 * MIB;

/// Longest lap of which a batch is at least one whole, in loads: a set of 8 MiB by lines. Longer ones go on where the
/// batch before ended: every load is then as long ago as in whole laps, and contiguous parts of a random cycle are
/// random samples of it.
const WHOLE_LAP: u64 = 128 * KIB;

/// A walk along one chain. A batch is at least one whole lap, or a part of a long one.
pub(super) struct Chase {
    ring: ChaseRing<Arena>,
    from: u64,
    rewarm: bool,
    /// Whether a batch is a part of a lap.
    in_parts: bool,
}

impl Chase {
    /// A chain through a working set on pages of the size that the point specifies (base pages by default).
    pub(super) fn new(
        at: &Point,
        bytes: u64,
        order: ChasePattern,
        context: &ProbeContext,
    ) -> Result<Self, Unsupported> {
        let helpers = context.preparation_helpers();
        let mut ring = ring(bytes, at.get("pages").unwrap_or("base").parse()?, order, context)?;
        let in_parts = ring.lap() > WHOLE_LAP;
        if in_parts {
            ring.visit(&helpers);
        }
        let from = ring.position();
        Ok(Self { ring, from, rewarm: false, in_parts })
    }

    /// The memory that it walks through.
    pub(super) fn arena(&self) -> &Arena {
        self.ring.buffer()
    }

    /// For one kernel of a pair, whose batches are whole laps: the other kernel's batch lies between two of them.
    pub(super) fn alternated(self) -> Self {
        Self { rewarm: self.ring.lap() <= REWARMED / 64, in_parts: false, ..self }
    }
}

/// A chain through `bytes` of fresh memory.
pub(super) fn ring(
    bytes: u64,
    pages: Pages,
    order: ChasePattern,
    context: &ProbeContext,
) -> Result<ChaseRing<Arena>, Unsupported> {
    let available = sys::memory::available_bytes()?;
    if bytes > available / 4 * 3 {
        return Err(Unsupported::new(format!("{} of memory are available", model::format_size(available / MIB * MIB))));
    }
    let helpers = context.preparation_helpers();
    let arena = Arena::populated_by(bytes as usize, pages, &helpers)?;
    ChaseRing::written_by(arena, order, context.seed(), &helpers)
        .ok_or_else(|| Unsupported::new("the chain would have fewer than two links"))
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
        if self.in_parts { 1 } else { self.ring.lap() + 1 }
    }

    fn declared(&self) -> Option<DeclaredCost> {
        Some(DeclaredCost { bytes_read: 8.0, bytes_written: 0.0, operations: 1.0 })
    }
}
