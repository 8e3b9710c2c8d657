//! A cycle of pointers through memory, and the chase along it: every load needs the address that the one before brought.
//!
//! The walk is that of lmbench's `lat_mem_rd` (McVoy and Staelin, USENIX ATC 1996); independent chains are those of its
//! `par_mem`. Where the walk stands after any number of steps follows from a formula ([`Route`]), so a check costs
//! nothing and needs no table beside the buffer.

use super::LoopCost;
use super::native::access::follow;
pub use super::route::{ChasePattern, Route};

/// One step of a chase.
pub const STEP: LoopCost =
    LoopCost { elements: 1, bytes_read: 8, bytes_written: 0, loads: 1, stores: 0, flops: 0, ops: 1 };

/// Most chains that [`ChaseRing::chase_parallel`] runs.
pub const CHAINS: usize = 16;

/// Memory that keeps its address while its owner moves and is read or written only through the owner.
///
/// # Safety
/// `words` must return the same slice every time, whatever happens to the value in between, and no safe code may write
/// to it other than through `words`.
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

// SAFETY: an arena's mapping stays where it is until it is dropped, and only `&mut` methods write to it.
unsafe impl Fixed for crate::memory::Arena {
    fn words(&mut self) -> &mut [u64] {
        self.words_mut()
    }
}

/// A buffer whose cells each hold the address of the next one, in a single cycle.
#[derive(Debug)]
pub struct ChaseRing<B> {
    buffer: B,
    route: Route,
    /// Where the buffer was when the addresses were written.
    base: usize,
    /// The word that the walk stands on.
    at: u64,
}

impl<B: Fixed> ChaseRing<B> {
    /// Writes the cycle into the buffer, front to back. `None` if fewer than two cells fit, or if the order makes no
    /// sense for the buffer (see [`Route::new`]).
    #[must_use]
    pub fn new(mut buffer: B, order: ChasePattern, seed: u64) -> Option<Self> {
        let words = buffer.words();
        let route = Route::new(words.len(), order, seed)?;
        let base = words.as_mut_ptr().expose_provenance();
        route.lay(words, base as u64);
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

    /// The word that the walk stands on.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.at
    }

    /// The word that a walk from `from` stands on after `steps`, by the formula; `None` if `from` is no cell of the cycle.
    #[must_use]
    pub fn position_after(&self, from: u64, steps: u64) -> Option<u64> {
        Some(self.route.cell(self.route.add(self.route.step(from)?, steps)))
    }

    /// Follows `steps` pointers from where the walk stands and returns the word it arrived at.
    pub fn chase(&mut self, steps: u64) -> u64 {
        let start = self.address(self.at);
        // SAFETY: `start` is a cell, and every cell holds the address of another: `new` wrote them, `Steady` says that
        // nobody else can write to the buffer, and `address` that it has not moved.
        let arrived = unsafe { chase_one(start, steps) };
        self.at = self.word(arrived);
        self.at
    }

    /// Starting words for `chains` independent walks: where the walk stands, and equal parts of a lap further.
    #[must_use]
    pub fn starts(&self, chains: usize) -> Vec<u64> {
        let apart = self.lap() / chains.max(1) as u64;
        (0..chains as u64).filter_map(|chain| self.position_after(self.at, chain * apart)).collect()
    }

    /// Follows `steps` pointers on each of the walks that stand on the words `at`, all of them together, and leaves in
    /// `at` where they arrived. Loads of one walk wait for each other, loads of different walks need not.
    ///
    /// # Panics
    /// If there is no walk, there are more than [`CHAINS`], or one stands on no cell of the cycle.
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
    /// If the owner of the buffer broke the promise of [`Fixed`].
    fn address(&mut self, word: u64) -> *const u64 {
        let words = self.buffer.words();
        assert_eq!(words.as_mut_ptr().expose_provenance(), self.base, "the buffer of a ring stays where it is");
        words[usize::try_from(word).unwrap_or(usize::MAX)..].as_ptr()
    }

    fn word(&self, cell: *const u64) -> u64 {
        ((cell.addr() - self.base) / size_of::<u64>()) as u64
    }
}

/// Loads in a turn of the loop of [`ChaseRing::chase`].
pub const TURN: u64 = 16;

/// # Safety
/// `at` must be a cell that holds the address of a cell, and so on.
#[inline(never)]
unsafe fn chase_one(mut at: *const u64, steps: u64) -> *const u64 {
    for _ in 0..steps / TURN {
        for _ in 0..TURN {
            // SAFETY: the caller's promise.
            at = unsafe { follow(at) };
        }
    }
    for _ in 0..steps % TURN {
        // SAFETY: the same.
        at = unsafe { follow(at) };
    }
    at
}

/// # Safety
/// As for [`chase_one`], for each of the chains.
#[inline(never)]
unsafe fn chase_many<const K: usize>(at: &mut [*const u64; K], steps: u64) {
    // A copy of its own, so that the pointers stay in registers.
    let mut cells = *at;
    for _ in 0..steps {
        for cell in &mut cells {
            // SAFETY: the caller's promise.
            *cell = unsafe { follow(*cell) };
        }
    }
    *at = cells;
}
