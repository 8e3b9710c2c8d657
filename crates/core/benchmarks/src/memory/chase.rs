//! Common parts of the latency results: a chain of pointers through an arena.

use kernels::memory::{Arena, Pages, PreparationHelpers};
use kernels::ring::{ChasePattern, ChaseRing};

use crate::peer_process::fold;
use crate::prelude::*;
use crate::room::require_memory;

/// Sets up to this size are walked once, untimed, before each batch of a pair, because the batch of the other kernel
/// has evicted them from the caches of the core. For larger sets this would take too long.
const REWARMED: u64 = 16 * MIB;

/// Longest lap, in loads, for which a batch has at least a whole one: a set of 8 MiB by lines. Batches of longer laps
/// continue where the previous one ended. Each load is then as old as in whole laps, and contiguous parts of a random
/// cycle are random samples of it.
const WHOLE_LAP: u64 = 128 * KIB;

/// Parts of the lap in one batch if the chain goes through memory in order. Places differ by a factor of up to two and
/// resemble their neighbours, so one part would be a sample of one place. Each part begins with a load that no
/// prefetcher foresaw, which is 1% of its time.
const PLACES: usize = 8;

/// Most memory of all chains of a small set, and the largest number of them.
const COPIES_BYTES: u64 = 24 * MIB;
const MOST_COPIES: u64 = 24;
/// Largest set whose chain is another one in each batch. Larger sets use a chain for several batches, since walking it
/// takes longer.
const OWN_CHAIN: u64 = MIB;
/// Consecutive batches on one chain of a larger set, and the laps before the first of them. A cache that does not evict
/// the oldest line takes several laps to hold what it can.
const BLOCK: usize = 3;
const WARM_LAPS: u64 = 3;

/// Longest lap that is walked again right before the clock, in loads. The harness's own system calls displace parts of
/// a set as large as a first cache. Reloading them cost 4700 cycles within a batch, or 1700 after three more laps.
const SETTLED_LAP: u64 = KIB;
/// Longest lap that is walked once more before the clock. A set that fills a second cache loses lines to any code in
/// between, and the next lap takes a sixth longer (a batch of one lap had 7.8 ns a load, one of three had 6.7).
const SECOND_LAP: u64 = 32 * KIB;
/// Least number of loads of a batch of such a lap: the rest is 0.2% of them, and it is the same in all sessions. It was
/// 0.5 to 2.5%, since fewer loads were asked for where the calibration met a neighbour.
const SETTLED_LOADS: u64 = 200 * KIB;

/// A walk along a chain. A batch is at least one whole lap, or a part of a long one.
///
/// A small set has several chains on different pages, each used for a few batches. The pages decide which lines
/// displace each other in a cache; with one chain they would be one random draw per sample.
pub(super) struct Chase {
    rings: Vec<ChaseRing<Arena>>,
    /// The chain of the present batch, and the number of batches before it.
    ring: usize,
    batches: usize,
    /// Batches on a chain before the next.
    block: usize,
    /// Start positions of the parts of the present batch, and of the next one on each chain.
    from: Vec<u64>,
    next: Vec<Vec<u64>>,
    rewarm: bool,
    /// Whether a batch is a part of a lap.
    in_parts: bool,
}

impl Chase {
    /// A chain through a working set on pages of the size that the parameters specifies (base pages by default).
    pub(super) fn new(
        at: &Parameters,
        bytes: u64,
        order: ChasePattern,
        context: &BenchmarkContext,
    ) -> Result<Self, Unsupported> {
        let pages = at.get("pages").unwrap_or("base").parse()?;
        let mut rings = rings(copies(bytes), bytes, pages, order, context)?;
        let in_parts = rings[0].lap() > WHOLE_LAP;
        if in_parts {
            rings[0].visit(&context.preparation_helpers());
        }
        let places = if in_parts && matches!(order, ChasePattern::Strided(_)) { PLACES } else { 1 };
        let next: Vec<_> = rings.iter().map(|ring| ring.starts(places)).collect();
        let block = if bytes > OWN_CHAIN { BLOCK } else { 1 };
        Ok(Self { rings, ring: 0, batches: 0, block, from: next[0].clone(), next, rewarm: false, in_parts })
    }

    /// The memory that it walks through; of several chains that of the first.
    pub(super) fn arena(&self) -> &Arena {
        self.rings[0].buffer()
    }

    /// The chain of the next batch.
    fn chain(&self) -> usize {
        self.batches / self.block % self.rings.len()
    }

    /// For one kernel of a pair, whose batches are whole laps: the other kernel's batch lies between two of them.
    pub(super) fn alternated(self) -> Self {
        Self { rewarm: self.rings[0].lap() <= REWARMED / 64, in_parts: false, ..self }
    }
}

/// Number of chains of a working set: one of those that are walked in parts.
fn copies(bytes: u64) -> u64 {
    if bytes > 64 * WHOLE_LAP { 1 } else { (COPIES_BYTES / bytes.max(1)).clamp(1, MOST_COPIES) }
}

/// A chain through `bytes` of fresh memory.
pub(super) fn ring(
    bytes: u64,
    pages: Pages,
    order: ChasePattern,
    context: &BenchmarkContext,
) -> Result<ChaseRing<Arena>, Unsupported> {
    let mut one = rings(1, bytes, pages, order, context)?;
    one.pop().ok_or_else(|| Unsupported::new("there is no chain"))
}

/// Chains through `bytes` of fresh memory each.
fn rings(
    count: u64,
    bytes: u64,
    pages: Pages,
    order: ChasePattern,
    context: &BenchmarkContext,
) -> Result<Vec<ChaseRing<Arena>>, Unsupported> {
    require_memory(bytes.saturating_mul(count))?;
    let helpers = context.preparation_helpers();
    let written = |arena: Arena| {
        ChaseRing::written_by(arena, order, context.seed(), &helpers)
            .ok_or_else(|| Unsupported::new("the chain would have fewer than two links"))
    };
    Arena::several(count as usize, bytes as usize, pages, &helpers)?.into_iter().map(written).collect()
}

/// Steps of a part of a batch.
const fn part(ops: u64, parts: u64, at: u64) -> u64 {
    ops / parts + (at < ops % parts) as u64
}

impl Kernel for Chase {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.ring = self.chain();
        self.batches += 1;
        let (ring, next) = (&mut self.rings[self.ring], &mut self.next[self.ring]);
        self.from.clone_from(next);
        let parts = next.len() as u64;
        let mut token = 0;
        for (at, place) in next.iter_mut().enumerate() {
            if !ring.go_to(*place) {
                return Err(BenchmarkError::new("a part of the walk began outside of the chain"));
            }
            *place = ring.chase(part(ops, parts, at as u64));
            token = fold(token, *place);
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        // A whole lap ends where it began: the end of a walk proves its steps beyond whole laps.
        let (ring, parts) = (&self.rings[self.ring], self.from.len() as u64);
        let mut ends =
            self.from.iter().zip(0..).map(|(from, at)| ring.position_after(*from, part(done.ops, parts, at)));
        let expected = ends.try_fold(0, |token, end| Some(fold(token, end?)));
        BenchmarkError::unless_equal(Some(done.token), expected)
    }

    fn ready(&mut self, _ops: u64) -> Result<(), BenchmarkError> {
        let next = self.chain();
        let (another, ring) = (next != self.ring, &mut self.rings[next]);
        let laps = match ring.lap() {
            _ if !another => u64::from(self.rewarm),
            0..=SETTLED_LAP => WARM_LAPS,
            // Fetched by many loads at a time: one after the other would wait for the last cache or memory each time.
            _ => {
                ring.visit(&PreparationHelpers::none());
                WARM_LAPS - 1
            }
        };
        ring.chase(laps * ring.lap());
        Ok(())
    }

    fn settle(&mut self) {
        let next = self.chain();
        let ring = &mut self.rings[next];
        let laps = match ring.lap() {
            0..=SETTLED_LAP => WARM_LAPS,
            lap if lap <= SECOND_LAP => 1,
            _ => 0,
        };
        ring.chase(laps * ring.lap());
    }

    fn granule(&self) -> u64 {
        let lap = self.rings[0].lap();
        match lap {
            _ if self.in_parts => 1,
            0..=SETTLED_LAP => SETTLED_LOADS / lap * lap + 1,
            _ => lap + 1,
        }
    }

    fn declared(&self) -> Option<DeclaredCost> {
        Some(DeclaredCost { bytes_read: 8.0, bytes_written: 0.0, operations: 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SampleSetting;

    fn chase(set: &str, order: ChasePattern) -> Result<Chase, Unsupported> {
        let context = BenchmarkContext::new(SampleSetting::within("."));
        let at: Parameters = format!("working_set={set}").parse().unwrap();
        Chase::new(&at, at.bytes("working_set").unwrap(), order, &context)
    }

    #[test]
    fn the_parts_of_a_walk_in_order_lie_apart_and_each_goes_on() {
        let mut walk = match chase("16MiB", ChasePattern::Strided(64)) {
            Ok(walk) => walk,
            Err(not_measured) => return testing::skip!("{not_measured}"),
        };
        let lap = walk.rings[0].lap();
        let step = |walk: &Chase, place: usize| walk.rings[0].route().step(walk.next[0][place]).unwrap();
        for batch in 0..3 {
            assert_eq!((walk.rings.len(), walk.next[0].len()), (1, PLACES));
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
                Err(not_measured) => return testing::skip!("{not_measured}"),
            };
            let done = walk.batch(5000).unwrap();
            walk.check(&done).unwrap();
            assert_eq!(walk.next[0].len(), 1);
        }
    }

    #[test]
    fn a_small_set_lies_in_several_places_and_batches_take_turns_on_them() {
        assert_eq!([4 * KIB, MIB, 2 * MIB, 5 * MIB, 9 * MIB, 64 * MIB].map(copies), [24, 24, 12, 4, 1, 1]);
        for (set, block) in [("64KiB", 1), ("2MiB", BLOCK)] {
            let mut walk = match chase(set, ChasePattern::Random) {
                Ok(walk) => walk,
                Err(not_measured) => return testing::skip!("{not_measured}"),
            };
            let copies = walk.rings.len();
            let mut met = Vec::new();
            for _ in 0..(copies + 2) * block {
                walk.ready(1500).unwrap();
                walk.settle();
                let done = walk.batch(1500).unwrap();
                walk.check(&done).unwrap();
                let fewer = BatchWork { ops: done.ops - 1, ..done };
                assert!(walk.check(&fewer).is_err());
                met.push(walk.rings[walk.ring].buffer().words().as_ptr() as usize);
            }
            let blocks: Vec<_> = met.chunk_by(|one, next| one == next).map(|block| (block[0], block.len())).collect();
            assert!(blocks.iter().all(|met| met.1 == block), "{blocks:?}");
            let places: std::collections::HashSet<_> = blocks[..copies].iter().map(|block| block.0).collect();
            assert_eq!((places.len(), blocks[copies].0), (copies, blocks[0].0));
        }
    }
}
