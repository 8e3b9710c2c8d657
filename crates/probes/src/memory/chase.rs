//! Common parts of the latency figures: a chain of pointers through an arena.

use sys::kernel::ring::{ChasePattern, ChaseRing};
use sys::memory::{Arena, Pages};

use crate::peer_process::fold;
use crate::prelude::*;

/// Sets up to this size are walked once, outside the clock, before each batch of a pair, because the batch of the other
/// kernel has evicted them from the caches of the core; for larger sets this would take too long.
const REWARMED: u64 = 16 * MIB;

/// Longest lap of which a batch is at least one whole, in loads: a set of 8 MiB by lines. Longer ones go on where the
/// batch before ended: every load is then as long ago as in whole laps, and contiguous parts of a random cycle are
/// random samples of it.
const WHOLE_LAP: u64 = 128 * KIB;

/// Parts of the lap of which a batch is made where the chain goes through memory in order: neighbouring places resemble
/// each other and others differ by a factor of up to two, so that one part would be a sample of one place. Each part
/// begins with a load that no prefetcher foresaw, which is 1% of its time.
const PLACES: usize = 8;

/// A walk along one chain. A batch is at least one whole lap, or a part of a long one.
pub(super) struct Chase {
    ring: ChaseRing<Arena>,
    /// Where the parts of the present batch began, and where those of the next one do.
    from: Vec<u64>,
    next: Vec<u64>,
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
        let places = if in_parts && matches!(order, ChasePattern::Strided(_)) { PLACES } else { 1 };
        let next = ring.starts(places);
        Ok(Self { ring, from: next.clone(), next, rewarm: false, in_parts })
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

/// Steps of a part of a batch.
const fn part(ops: u64, parts: u64, at: u64) -> u64 {
    ops / parts + (at < ops % parts) as u64
}

impl Kernel for Chase {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        self.from.clone_from(&self.next);
        let parts = self.next.len() as u64;
        let mut token = 0;
        for (at, place) in self.next.iter_mut().enumerate() {
            if !self.ring.go_to(*place) {
                return Err(ProbeError::new("a part of the walk began outside of the chain"));
            }
            *place = self.ring.chase(part(ops, parts, at as u64));
            token = fold(token, *place);
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        // A whole lap ends where it began: the end of a walk proves its steps beyond whole laps.
        let parts = self.from.len() as u64;
        let mut ends =
            self.from.iter().zip(0..).map(|(from, at)| self.ring.position_after(*from, part(done.ops, parts, at)));
        let expected = ends.try_fold(0, |token, end| Some(fold(token, end?)));
        ProbeError::unless_equal(Some(done.token), expected)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LaunchSetting;

    fn chase(set: &str, order: ChasePattern) -> Result<Chase, Unsupported> {
        let context = ProbeContext::new(LaunchSetting::within("."));
        let at: Point = format!("working_set={set}").parse().unwrap();
        Chase::new(&at, at.bytes("working_set").unwrap(), order, &context)
    }

    #[test]
    fn the_parts_of_a_walk_in_order_lie_apart_and_each_goes_on() {
        let mut walk = match chase("16MiB", ChasePattern::Strided(64)) {
            Ok(walk) => walk,
            Err(unfit) => return testing::skip!("{unfit}"),
        };
        let lap = walk.ring.lap();
        let step = |walk: &Chase, place: usize| walk.ring.route().step(walk.next[place]).unwrap();
        for batch in 0..3 {
            assert_eq!(walk.next.len(), PLACES);
            for place in 0..PLACES {
                assert_eq!(
                    step(&walk, place),
                    place as u64 * lap / PLACES as u64 + batch * (1000 + u64::from(place < 3))
                );
            }
            let done = walk.batch(1000 * PLACES as u64 + 3).unwrap();
            walk.check(&done).unwrap();
            let fewer = BatchWork { ops: done.ops - 1, ..done };
            assert!(walk.check(&fewer).is_err());
        }
    }

    #[test]
    fn other_walks_have_one_part() {
        for (set, order) in [("64KiB", ChasePattern::Strided(64)), ("16MiB", ChasePattern::Random)] {
            let mut walk = match chase(set, order) {
                Ok(walk) => walk,
                Err(unfit) => return testing::skip!("{unfit}"),
            };
            let done = walk.batch(5000).unwrap();
            walk.check(&done).unwrap();
            assert_eq!(walk.next.len(), 1);
        }
    }
}
