//! A cycle of pointers through memory, and the chase along it: every load needs the address that the previous one
//! loaded.
//!
//! The walk is that of lmbench's `lat_mem_rd` (McVoy and Staelin, USENIX ATC 1996); independent chains are those of its
//! `par_mem`. A formula ([`Route`]) gives the position after any number of steps, so a check is cheap and needs no
//! table.

use std::sync::atomic::{AtomicU64, Ordering};

use super::LoopCost;
use super::native::access::follow;
pub use super::route::{ChasePattern, Route};
use crate::memory::PreparationHelpers;

/// One step of a chase.
pub const STEP: LoopCost =
    LoopCost { elements: 1, bytes_read: 8, bytes_written: 0, loads: 1, stores: 0, flops: 0, ops: 1 };

/// Walks that a thread follows together when it visits all cells.
const VISITING: usize = 8;
/// Steps of a walk that one thread takes at a time when cells are visited.
const STEPS_AT_ONCE: u64 = 1 << 15;
/// Most chains that [`ChaseRing::chase_parallel`] runs.
pub const CHAINS: usize = 16;

/// Memory whose address does not change when its owner moves, and that is accessed only through the owner.
///
/// # Safety
/// `words` must return the same slice every time, whatever is done with the value in between, and no safe code may
/// write to it other than through `words`.
pub unsafe trait Fixed {
    /// The memory as 64-bit words.
    fn words(&mut self) -> &mut [u64];
}

// SAFETY: a borrow has one target and is exclusive.
unsafe impl Fixed for &mut [u64] {
    fn words(&mut self) -> &mut [u64] {
        self
    }
}

// SAFETY: the heap block does not move with the box.
unsafe impl Fixed for Box<[u64]> {
    fn words(&mut self) -> &mut [u64] {
        self
    }
}

// SAFETY: the mapping of an arena does not move until it is dropped, and only `&mut` methods write to it.
unsafe impl Fixed for crate::memory::Arena {
    fn words(&mut self) -> &mut [u64] {
        self.words_mut()
    }
}

/// A buffer whose cells each contain the address of the next one, in a single cycle.
#[derive(Debug)]
pub struct ChaseRing<B> {
    buffer: B,
    route: Route,
    /// Address of the buffer when the addresses were written.
    base: usize,
    /// Present position, as a word.
    at: u64,
}

impl<B: Fixed> ChaseRing<B> {
    /// Writes the cycle into the buffer, front to back. `None` if fewer than two cells fit, or if the order is invalid
    /// for the buffer (see [`Route::new`]).
    #[must_use]
    pub fn new(buffer: B, order: ChasePattern, seed: u64) -> Option<Self> {
        Self::written_by(buffer, order, seed, &PreparationHelpers::none())
    }

    /// The same, with help of other CPUs.
    #[must_use]
    pub fn written_by(mut buffer: B, order: ChasePattern, seed: u64, helpers: &PreparationHelpers) -> Option<Self> {
        let words = buffer.words();
        let route = Route::new(words.len(), order, seed)?;
        let base = words.as_mut_ptr().expose_provenance();
        route.lay(words, base as u64, helpers);
        let at = route.cell(0);
        Some(Self { buffer, route, base, at })
    }

    /// Steps of one full lap.
    #[must_use]
    pub fn lap(&self) -> u64 {
        self.route.lap()
    }

    /// The formula of the walk.
    #[must_use]
    pub fn route(&self) -> &Route {
        &self.route
    }

    /// Present position, as a word.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.at
    }

    /// The position of a walk from `from` after `steps`, by the formula; `None` if `from` is not a cell of the cycle.
    #[must_use]
    pub fn position_after(&self, from: u64, steps: u64) -> Option<u64> {
        Some(self.route.cell(self.route.add(self.route.step(from)?, steps)))
    }

    /// Follows `steps` pointers from the present position and returns the new one.
    pub fn chase(&mut self, steps: u64) -> u64 {
        let start = self.address(self.at);
        // SAFETY: `start` is a cell, and every cell holds the address of another: `new` wrote them, `Fixed` says that
        // nothing else can write to the buffer, and `address` that it has not moved.
        let arrived = unsafe { chase_one(start, steps) };
        self.at = self.word(arrived);
        self.at
    }

    /// Goes to another cell; `false`, and nothing else, if the word is not a cell.
    pub fn go_to(&mut self, word: u64) -> bool {
        let is_cell = self.route.step(word).is_some();
        if is_cell {
            self.at = word;
        }
        is_cell
    }

    /// Visits every cell once or twice from the present position, which does not change, and returns the number of
    /// visits. Several parallel walks, by this thread and the helpers, take a fraction of the time of one. The cells
    /// visited first come next.
    pub fn visit(&mut self, helpers: &PreparationHelpers) -> u64 {
        let walks = VISITING * self.lap().div_ceil(VISITING as u64 * STEPS_AT_ONCE).max(1) as usize;
        let (starts, steps) = (self.starts(walks), self.lap().div_ceil(walks as u64));
        let words: &[u64] = self.buffer.words();
        let visits = AtomicU64::new(0);
        helpers.share(starts.chunks(VISITING).collect(), |starts: &[u64]| {
            let mut cells = [words.as_ptr(); VISITING];
            for (cell, start) in cells.iter_mut().zip(starts) {
                *cell = words[*start as usize..].as_ptr();
            }
            for cell in cells.iter_mut().skip(starts.len()) {
                *cell = words[starts[0] as usize..].as_ptr();
            }
            // SAFETY: every start is a cell by the formula, and every cell holds the address of another; `words`
            // borrows the buffer, which is not written to meanwhile.
            unsafe { chase_many(&mut cells, steps) };
            visits.fetch_add(starts.len() as u64 * steps, Ordering::Relaxed);
        });
        visits.into_inner()
    }

    /// Start positions of `chains` independent walks: the present position, and equal parts of a lap further.
    #[must_use]
    pub fn starts(&self, chains: usize) -> Vec<u64> {
        let apart = self.lap() / chains.max(1) as u64;
        (0..chains as u64).filter_map(|chain| self.position_after(self.at, chain * apart)).collect()
    }

    /// Follows `steps` pointers on each of the walks at the positions `at`, all together, and stores their new
    /// positions in `at`. Loads of one walk depend on each other, loads of different walks do not.
    ///
    /// # Panics
    /// If there are no walks, more than [`CHAINS`], or one is not at a cell of the cycle.
    pub fn chase_parallel(&mut self, at: &mut [u64], steps: u64) {
        for word in at.iter() {
            assert!(self.route.step(*word).is_some(), "word {word} is no cell of the cycle");
        }
        macro_rules! of_length {
            ($($k:literal)+) => {
                match at.len() {
                    $($k => self.together::<$k>(at, steps),)+
                    k => panic!("from 1 to {CHAINS} chains can be followed together, not {k}"),
                }
            };
        }
        of_length!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    }

    fn together<const K: usize>(&mut self, at: &mut [u64], steps: u64) {
        let mut cells = [self.address(self.at); K];
        for (cell, word) in cells.iter_mut().zip(at.iter()) {
            *cell = self.address(*word);
        }
        // SAFETY: as in `chase`; the caller checked that every start is a cell.
        unsafe { chase_many(&mut cells, steps) };
        for (word, cell) in at.iter_mut().zip(cells) {
            *word = self.word(cell);
        }
    }

    /// # Panics
    /// If the owner of the buffer violates the contract of [`Fixed`].
    fn address(&mut self, word: u64) -> *const u64 {
        let words = self.buffer.words();
        assert_eq!(words.as_mut_ptr().expose_provenance(), self.base, "the buffer of a ring stays where it is");
        words[usize::try_from(word).unwrap_or(usize::MAX)..].as_ptr()
    }

    fn word(&self, cell: *const u64) -> u64 {
        ((cell.addr() - self.base) / size_of::<u64>()) as u64
    }

    /// Its memory.
    pub fn buffer(&self) -> &B {
        &self.buffer
    }
}

/// Loads per iteration of the loop of [`ChaseRing::chase`].
pub const ITERATION: u64 = 16;

/// # Safety
/// `at` must be a cell that contains the address of a cell, and so on.
#[inline(never)]
unsafe fn chase_one(mut at: *const u64, steps: u64) -> *const u64 {
    for _ in 0..steps / ITERATION {
        for _ in 0..ITERATION {
            // SAFETY: the caller's promise.
            at = unsafe { follow(at) };
        }
    }
    for _ in 0..steps % ITERATION {
        // SAFETY: the same.
        at = unsafe { follow(at) };
    }
    at
}

/// # Safety
/// As for [`chase_one`], for each of the chains.
#[inline(never)]
unsafe fn chase_many<const K: usize>(at: &mut [*const u64; K], steps: u64) {
    // A local copy, so that the pointers stay in registers.
    let mut cells = *at;
    for _ in 0..steps {
        for cell in &mut cells {
            // SAFETY: the caller's promise.
            *cell = unsafe { follow(*cell) };
        }
    }
    *at = cells;
}
