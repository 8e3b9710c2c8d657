//! The arrays of the bandwidth results, prepared once for all results that share a sample.
//!
//! Every thread owns a chunk near its CPU. Threads walk a chunk in pieces, so that a batch is short for any size. The
//! pieces of a pass are spread over the chunk, where no result was recently ([`Visits`]).

use std::cell::{Cell, RefCell, RefMut};
use std::sync::Arc;

use kernels::memory::{Arena, Pages, PreparationHelpers};
use kernels::stream::{self, StreamKind, Variant};

use super::visits::{ArrayDivision, SLOT, Visits};
use crate::benchmark::Shares;
use crate::prelude::*;
use crate::room::require_memory;
use crate::team::ThreadTeam;

/// The results of one working set and number of threads share the arrays.
pub(super) const SHARES: Shares = Shares { key: "field", parameters: &["working_set", "threads", "pages"] };

/// Length of a piece of an array, in doubles: 1 MiB.
const PIECE: usize = (MIB / 8) as usize;
/// With at least this many pieces, the rest of an array behind the last whole one is dropped. Fewer pieces are
/// lengthened instead: a set of 4 MiB that walks 3 MiB would be another set.
pub(super) const MANY: usize = 16;
/// Doubles of the longest iteration of a loop. Arrays are a multiple of it, or of a shorter loop that fits.
const ITERATION: usize = 64;
/// Arrays start this many doubles apart from a whole page, which is an odd number of lines: arrays with equal offsets
/// in their pages conflict in the first cache.
const STAGGER: usize = 17 * 8;
/// Most arrays of a kernel.
const ARRAYS: usize = 3;
/// Slots that a user accesses before the caches are filled again: about as many as in a block of a shared sample, so
/// that a result is equally fast alone and with others.
const SLOTS_OF_A_STATE: usize = 96;
/// How many times as much as the last-level caches hold is read to fill them, and their bytes where they are unknown.
const DISPLACING: u64 = 1;
const CACHE: u64 = 32 * MIB;
/// Doubles in whole steps of any variant.
const ROUND: usize = 512;

/// One thread's part of the arrays.
pub(super) struct ArrayChunk {
    arena: Arena,
    bytes: usize,
}

/// The range of a batch: arrays of a chunk, and pieces of them.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    /// Arrays that the kernel uses, 1 to 3.
    pub(super) arrays: usize,
    /// Pieces to walk, in this order.
    pub(super) pieces: Arc<[u64]>,
}

impl Pass {
    /// Its last piece alone.
    pub(super) fn last(&self) -> Self {
        Self { pieces: self.pieces.iter().copied().last().into_iter().collect(), ..*self }
    }
}

impl ArrayChunk {
    fn new(bytes: usize, pages: Pages, helpers: &PreparationHelpers) -> Result<Self, Unsupported> {
        let room = bytes + ARRAYS * STAGGER * 8;
        let mut arena = Arena::populated_by(room, pages, helpers)?;
        fill(arena.doubles_mut(), helpers);
        Ok(Self { arena, bytes })
    }

    /// All memory of the chunk, as words. Writers must leave small whole numbers, as bits of doubles.
    pub(super) fn words(&mut self) -> &mut [u64] {
        self.arena.words_mut()
    }

    /// Elements of a piece of one array, and the number of pieces, if the chunk is divided into `arrays` arrays.
    fn pieces(&self, arrays: usize) -> (usize, usize) {
        let length = self.bytes / 8 / arrays;
        match length / PIECE {
            0 => (whole_iterations(length), 1),
            count if count < MANY => (whole_iterations(length / count), count),
            count => (PIECE, count),
        }
    }

    /// Elements of one array if the chunk is divided into `arrays` arrays.
    fn length(&self, arrays: usize) -> usize {
        let (piece, count) = self.pieces(arrays);
        piece * count
    }

    /// Elements of one piece.
    pub(super) fn piece(&self, arrays: usize) -> usize {
        self.pieces(arrays).0
    }

    /// How `arrays` arrays are walked.
    pub(super) fn division(&self, arrays: usize) -> ArrayDivision {
        let (piece, count) = self.pieces(arrays);
        let start = |array| array * (piece * count + STAGGER) * 8;
        ArrayDivision { starts: [start(0), start(1), start(2)], arrays, piece: piece * 8, count: count as u64 }
    }

    /// The arrays of one piece: the destination and the two inputs, empty if fewer are used.
    pub(super) fn arrays(&mut self, arrays: usize, piece: u64) -> [&mut [f64]; ARRAYS] {
        let (length, size) = (self.length(arrays), self.piece(arrays));
        let at = (piece % (length / size) as u64) as usize * size;
        let (first, rest) = self.arena.doubles_mut().split_at_mut(if arrays > 1 { length + STAGGER } else { length });
        let (second, third) = rest.split_at_mut(if arrays > 2 { length + STAGGER } else { rest.len().min(length) });
        let part = |array: usize, whole| if array < arrays { cut(whole, at, size) } else { Default::default() };
        [part(0, first), part(1, second), part(2, third)]
    }

    /// Applies `work` to every piece of a pass and adds up the results.
    pub(super) fn walk(&mut self, walk: &Pass, mut work: impl FnMut([&mut [f64]; ARRAYS]) -> u64) -> u64 {
        walk.pieces.iter().fold(0, |sum: u64, piece| sum.wrapping_add(work(self.arrays(walk.arrays, *piece))))
    }

    /// Passes one element of every piece, another in each, to `look` and adds up the results.
    pub(super) fn marks(
        &mut self,
        walk: &Pass,
        mut look: impl FnMut([&mut [f64]; ARRAYS], usize) -> Option<u64>,
    ) -> u64 {
        let size = self.piece(walk.arrays);
        walk.pieces.iter().fold(0, |sum: u64, piece| {
            let mark = (*piece as usize).wrapping_mul(7919) % size;
            sum.wrapping_add(look(self.arrays(walk.arrays, *piece), mark).unwrap_or(0))
        })
    }

    /// Reads whole slots.
    fn read(&self, read: &Variant, slots: &[usize]) -> u64 {
        let doubles = self.arena.doubles();
        slots.iter().fold(0, |sum: u64, slot| {
            let part = doubles.chunks(SLOT / 8).nth(*slot).unwrap_or_default();
            let whole = part.len() / ROUND * ROUND;
            sum.wrapping_add(read.run(&mut [], &part[..whole], &[], 0.0, 1))
        })
    }

    /// Whether an array is one piece: passes are then repeated inside the kernel.
    pub(super) fn is_small(&self, arrays: usize) -> bool {
        self.pieces(arrays).1 == 1
    }
}

/// The largest number of whole iterations within `length` doubles, which are at least a line.
fn whole_iterations(length: usize) -> usize {
    const LINE: usize = 8;
    let iteration = (1 << length.max(LINE).ilog2()).min(ITERATION);
    (length / iteration).max(1) * iteration
}

/// Fills with small whole numbers, whose sums are exact. The beginning is computed and then copied from a cache, so
/// that gigabytes are filled as fast as memory is written.
fn fill(all: &mut [f64], helpers: &PreparationHelpers) {
    /// Length after which the numbers repeat.
    const PERIOD: usize = 61;
    /// Copies that one thread makes at a time: 15 MiB.
    const PARTS_AT_ONCE: usize = 512;
    let (first, rest) = all.split_at_mut(all.len().min(64 * PERIOD));
    first.iter_mut().enumerate().for_each(|(at, x)| *x = ((at * 7 + 3) % PERIOD) as f64);
    let parts = rest.chunks_mut(first.len().max(1) * PARTS_AT_ONCE).collect();
    helpers.share(parts, |parts: &mut [f64]| {
        parts.chunks_mut(first.len().max(1)).for_each(|part| part.copy_from_slice(&first[..part.len()]));
    });
}

fn cut(whole: &mut [f64], at: usize, size: usize) -> &mut [f64] {
    &mut whole[at..at + size]
}

/// The arrays of a sample: one chunk per thread, all walked at the same places.
pub(super) struct Arrays {
    team: RefCell<ThreadTeam<ArrayChunk>>,
    visits: RefCell<Visits>,
    /// Slots of a chunk that displace everything from the caches.
    displacing: usize,
    users: Cell<u32>,
    last: Cell<LastUser>,
}

/// A result that uses the arrays of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ArrayUser(u32);

/// The last user of the arrays, and the slots that it has accessed since its beginning.
#[derive(Debug, Clone, Copy, Default)]
struct LastUser {
    user: ArrayUser,
    slots: usize,
}

impl Arrays {
    /// The threads, for as long as one job takes.
    pub(super) fn borrow_mut(&self) -> RefMut<'_, ThreadTeam<ArrayChunk>> {
        self.team.borrow_mut()
    }

    /// A further user.
    pub(super) fn user(&self) -> ArrayUser {
        self.users.set(self.users.get() + 1);
        ArrayUser(self.users.get())
    }

    /// The next `count` pieces of a user's walk, and the step after them. They are spread over the arrays, away from
    /// pieces that a cache may still hold.
    pub(super) fn pass(
        &self,
        user: ArrayUser,
        division: &ArrayDivision,
        from: u64,
        pieces: u64,
    ) -> Result<(Arc<[u64]>, u64), BenchmarkError> {
        let last = self.last.get();
        let mut slots = if last.user == user { last.slots } else { 0 };
        if last.user != user || slots >= SLOTS_OF_A_STATE {
            self.displace()?;
            slots = 0;
        }
        self.last.set(LastUser { user, slots: slots + pieces as usize * division.arrays });
        Ok(self.visits.borrow_mut().pass(division, from, pieces))
    }

    /// Pieces after which the caches hold only data of the present walk.
    pub(super) fn pieces_of_caches(&self, division: &ArrayDivision) -> u64 {
        (self.displacing.div_ceil(division.arrays) as u64).min(division.count)
    }

    /// Fills the caches with lines that are not written and the next passes do not access. The contents of the caches
    /// decide how fast the next user is. Stores that bypass the caches evict nothing, so written lines of others would
    /// stay, and the page tables of these arrays only if another result has read since.
    fn displace(&self) -> Result<(), BenchmarkError> {
        let slots = self.visits.borrow_mut().again(self.displacing);
        let reads = stream::candidates(StreamKind::Read).max_by_key(|variant| variant.width);
        let Some(read) = reads else { return Ok(()) };
        self.team.borrow_mut().run(move |chunk| chunk.read(read, &slots)).map(drop)
    }
}

/// The arrays of a set of parameters, prepared now or by an earlier sharer.
pub(super) fn arrays(at: &Parameters, context: &mut BenchmarkContext) -> Result<Rc<Arrays>, Unsupported> {
    let bytes = at.bytes("working_set")?;
    let pages: Pages = at.get("pages").unwrap_or("base").parse()?;
    let cpus = context.cpus().to_vec();
    let threads = cpus.len().max(1);
    let each = bytes as usize / threads;
    if each < ARRAYS * 64 {
        return Err(Unsupported::new("the working set is too small for so many threads"));
    }
    let node = at.count("memory_node").ok().map(|node| node as usize);
    let cache = context.last_level_bytes().unwrap_or(CACHE);
    let key = format!("field {bytes} {threads} {} {node:?}", at.get("pages").unwrap_or("base"));
    // Threads prepare their parts one after another, each with help of the others' CPUs.
    let helpers: Vec<PreparationHelpers> =
        cpus.iter().map(|cpu| PreparationHelpers::near(*cpu, context.allowed())).collect();
    let part = move |member: usize| {
        let helpers = helpers.get(member).unwrap_or(const { &PreparationHelpers::none() });
        match node {
            // By the thread that will read it, so that its policy holds when the pages are first touched.
            Some(node) => {
                let chunk = kernels::memory::on_node(node, || ArrayChunk::new(each, pages, helpers))?;
                kernels::memory::verify_node(&chunk.arena, node)?;
                Ok(chunk)
            }
            None => ArrayChunk::new(each, pages, helpers),
        }
    };
    let arrays = context.shared(&key, || {
        // Not of those that find the arrays there, and their memory taken.
        require_memory(bytes)?;
        let team = RefCell::new(ThreadTeam::spawn(&cpus, part)?);
        let visits = RefCell::new(Visits::new(each + ARRAYS * STAGGER * 8));
        let displacing = (DISPLACING * cache) as usize / threads / SLOT;
        Ok(Arrays { team, visits, displacing, users: Cell::default(), last: Cell::default() })
    })?;
    for (member, tid) in arrays.team.borrow().tids().iter().enumerate() {
        context.watch(member + 1, *tid);
    }
    Ok(arrays)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SampleSetting;

    #[test]
    fn caches_are_filled_before_another_user_and_after_a_while() {
        let mut context = BenchmarkContext::new(SampleSetting { cache: 2 << 20, ..SampleSetting::within(".") });
        let parameters: Parameters = "working_set=16MiB,threads=1,pages=base".parse().unwrap();
        let arrays = arrays(&parameters, &mut context).unwrap();
        let division = arrays.borrow_mut().own().division(1);
        let (one, other) = (arrays.user(), arrays.user());
        let accessed = |user, pieces| {
            let before = arrays.visits.borrow().accessed();
            arrays.pass(user, &division, 0, pieces).unwrap();
            arrays.visits.borrow().accessed() - before
        };
        assert_eq!(accessed(one, 3), 3 + 2, "what the preparation left");
        assert_eq!(accessed(one, 3), 3, "its own lines are what it would find anyway");
        assert_eq!((accessed(other, 3), accessed(one, 3)), (3 + 2, 3 + 2));
        let filled = (0..64).filter(|_| accessed(one, 3) > 3).count();
        assert_eq!(filled, 64 / SLOTS_OF_A_STATE.div_ceil(3), "every 96 slots");
    }

    #[test]
    fn a_walk_leaves_nothing_of_before_in_the_caches() {
        let pieces = |cache: u64, of: usize| {
            let mut context = BenchmarkContext::new(SampleSetting { cache, ..SampleSetting::within(".") });
            let parameters: Parameters = "working_set=24MiB,threads=1,pages=base".parse().unwrap();
            let arrays = arrays(&parameters, &mut context).unwrap();
            let division = arrays.borrow_mut().own().division(of);
            arrays.pieces_of_caches(&division)
        };
        assert_eq!((pieces(7 << 20, 1), pieces(7 << 20, 3)), (7, 3), "a piece of each array is a MiB");
        let of_all = pieces(1 << 30, 1);
        assert!((20..=24).contains(&of_all), "no more than there are: {of_all}");
    }

    #[test]
    fn arrays_are_whole_iterations_and_nearly_all_of_a_working_set() {
        let chunk = |bytes| ArrayChunk { arena: Arena::reserve(4096, Pages::System).unwrap(), bytes };
        for bytes in (192..4 << 20).step_by(4096 + 8).chain([3 << 20, 5 << 20, 8 << 20, 47 << 20, 256 << 20]) {
            for arrays in 1..=ARRAYS {
                let (piece, count) = chunk(bytes).pieces(arrays);
                let (whole, iteration) = (piece * count * arrays * 8, ITERATION.min(1 << piece.ilog2()));
                assert!(whole <= bytes && piece.is_multiple_of(iteration), "{bytes} {arrays}: {piece} {count}");
                let wanted = if bytes < 64 << 10 { bytes / 2 } else { bytes / 16 * 15 };
                assert!(whole >= wanted, "{whole} of {bytes} in {arrays} arrays");
            }
        }
        assert_eq!(chunk(256 << 20).pieces(3), (PIECE, 85), "pieces of long arrays are of one length");
        assert_eq!(chunk(4 << 20).pieces(2), (PIECE, 2));
    }

    #[test]
    fn arrays_of_any_length_hold_the_same_numbers() {
        let wanted = |at: usize| ((at * 7 + 3) % 61) as f64;
        for length in [0, 1, 60, 61, 64 * 61, 64 * 61 + 1, 3 * 64 * 61 + 7] {
            let mut all = vec![f64::NAN; length];
            fill(&mut all, &PreparationHelpers::none());
            assert!(all.iter().enumerate().all(|(at, x)| *x == wanted(at)), "{length}");
        }
    }
}
