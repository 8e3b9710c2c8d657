//! The order in which a chase visits the cells of a buffer, as an invertible formula.
//!
//! A random permutation of any size consists of invertible mixing steps on the next power of two (odd multiplication
//! and xor-shift, as in the finalisers of hash functions). They repeat until the result is in range ("cycle walking",
//! Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). Its inverse costs the same, so the buffer
//! is written from front to back and the position after n steps is known without a table.

use crate::memory::PreparationHelpers;

/// Bytes of a cell in the orders by line.
const LINE: u64 = 64;
const WORD: u64 = 8;
/// Cells that are written by one thread at a time.
const CELLS_AT_ONCE: usize = 1 << 18;

/// The order of a walk through a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChasePattern {
    /// Every line once, in random order.
    Random,
    /// Forward by a stride in bytes (a multiple of 8), then back to the front.
    Strided(u64),
    /// All lines of a page in random order before the next page; the pages, whose size in bytes is a power of two above
    /// 64, in random order.
    PageLocal(u64),
    /// One line of every page, pages in random order, then another line of every page: each step changes the page.
    PageRandom(u64),
}

/// One cycle through the cells of a buffer. Cells are identified by their first word.
#[derive(Debug, Clone)]
pub struct Route {
    shape: RouteShape,
    lap: u64,
    seed: u64,
}

#[derive(Debug, Clone)]
enum RouteShape {
    Lines(Shuffle),
    Stride { words: u64 },
    Pages { pages: Shuffle, lines: u64, local: bool },
}

impl Route {
    /// A route through a buffer of `words` 64-bit words. An incomplete line (or page, or stride) at the end is not
    /// visited. `None` if fewer than two cells fit, if a stride is not a positive multiple of 8 bytes, or if a page is
    /// not a power of two of at least two lines.
    #[must_use]
    pub fn new(words: usize, order: ChasePattern, seed: u64) -> Option<Self> {
        let bytes = (words as u64).checked_mul(WORD)?;
        let (shape, lap) = match order {
            ChasePattern::Random => (RouteShape::Lines(Shuffle::new(bytes / LINE, seed)), bytes / LINE),
            ChasePattern::Strided(stride) if stride > 0 && stride % WORD == 0 => {
                (RouteShape::Stride { words: stride / WORD }, bytes / stride)
            }
            ChasePattern::PageLocal(page) | ChasePattern::PageRandom(page)
                if page.is_power_of_two() && page >= 2 * LINE =>
            {
                let (pages, lines) = (Shuffle::new(bytes / page, seed), page / LINE);
                let local = matches!(order, ChasePattern::PageLocal(_));
                (RouteShape::Pages { pages, lines, local }, bytes / page * lines)
            }
            _ => return None,
        };
        (lap >= 2).then_some(Self { shape, lap, seed })
    }

    /// Steps of one lap, equal to the number of cells.
    #[must_use]
    pub fn lap(&self) -> u64 {
        self.lap
    }

    /// `step` and `more` steps further, modulo the lap.
    #[must_use]
    pub fn add(&self, step: u64, more: u64) -> u64 {
        ((step % self.lap) + (more % self.lap)) % self.lap
    }

    /// The first word of the cell that is visited at `step` (below the lap).
    #[must_use]
    pub fn cell(&self, step: u64) -> u64 {
        match &self.shape {
            RouteShape::Lines(lines) => lines.apply(step) * (LINE / WORD),
            RouteShape::Stride { words } => step * words,
            RouteShape::Pages { pages, lines, local } => {
                let (page, line) =
                    if *local { (step / lines, step % lines) } else { (step % pages.size, step / pages.size) };
                let page = pages.apply(page);
                (page * lines + self.within(page, *lines).apply(line)) * (LINE / WORD)
            }
        }
    }

    /// The step at which a cell is visited; `None` if the word is not the first of a cell.
    #[must_use]
    pub fn step(&self, cell: u64) -> Option<u64> {
        let place = cell / self.cell_words();
        (cell.is_multiple_of(self.cell_words()) && place < self.lap).then(|| self.visited(place))
    }

    /// The step at which the cell at an index from the front of the buffer is visited.
    fn visited(&self, place: u64) -> u64 {
        match &self.shape {
            RouteShape::Lines(lines) => lines.invert(place),
            RouteShape::Stride { .. } => place,
            RouteShape::Pages { pages, lines, local } => {
                let page = place / lines;
                let line = self.within(page, *lines).invert(place % lines);
                let page = pages.invert(page);
                if *local { page * lines + line } else { line * pages.size + page }
            }
        }
    }

    fn cell_words(&self) -> u64 {
        match &self.shape {
            RouteShape::Stride { words } => *words,
            RouteShape::Lines(_) | RouteShape::Pages { .. } => LINE / WORD,
        }
    }

    /// The order of the lines within one page.
    fn within(&self, page: u64, lines: u64) -> Shuffle {
        Shuffle::new(lines, self.seed ^ (page + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Writes into each cell the address of the next, front to back; `base` is the address of the buffer.
    pub(super) fn lay(&self, words: &mut [u64], base: u64, helpers: &PreparationHelpers) {
        let apart = usize::try_from(self.cell_words()).unwrap_or(usize::MAX);
        let parts = words.chunks_mut(apart.saturating_mul(CELLS_AT_ONCE)).enumerate();
        let parts = parts.map(|(part, words)| ((part * CELLS_AT_ONCE) as u64, words)).collect();
        helpers.share(parts, |(first, words): (u64, &mut [u64])| {
            for (place, cell) in (first..self.lap).zip(words.iter_mut().step_by(apart)) {
                let next = self.cell(self.add(self.visited(place), 1));
                *cell = base + next * WORD;
            }
        });
    }
}

/// A random permutation of `0..size` that can be computed in both directions.
#[derive(Debug, Clone)]
struct Shuffle {
    size: u64,
    mask: u64,
    shift: u32,
    rounds: [Round; 4],
}

#[derive(Debug, Clone, Copy)]
struct Round {
    factor: u64,
    inverse: u64,
    term: u64,
}

impl Shuffle {
    fn new(size: u64, seed: u64) -> Self {
        let bits = 64 - size.max(2).saturating_sub(1).leading_zeros();
        let mut state = seed;
        let rounds = [(); 4].map(|()| {
            let factor = split_mix(&mut state) | 1;
            Round { factor, inverse: inverse(factor), term: split_mix(&mut state) }
        });
        Self { size, mask: u64::MAX >> (64 - bits), shift: bits.div_ceil(2), rounds }
    }

    fn apply(&self, mut x: u64) -> u64 {
        loop {
            for round in &self.rounds {
                x = x.wrapping_mul(round.factor).wrapping_add(round.term) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.size {
                return x;
            }
        }
    }

    fn invert(&self, mut x: u64) -> u64 {
        loop {
            for round in self.rounds.iter().rev() {
                // The shift is at least half the bits, so the operation is its own inverse.
                x ^= x >> self.shift;
                x = x.wrapping_sub(round.term).wrapping_mul(round.inverse) & self.mask;
            }
            if x < self.size {
                return x;
            }
        }
    }
}

/// Inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the correct low bits, initially
/// three.
fn inverse(odd: u64) -> u64 {
    (0..5).fold(odd, |x, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))))
}

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [ChasePattern; 7] = [
        ChasePattern::Random,
        ChasePattern::Strided(8),
        ChasePattern::Strided(64),
        ChasePattern::Strided(136),
        ChasePattern::PageLocal(4096),
        ChasePattern::PageRandom(4096),
        ChasePattern::PageRandom(128),
    ];

    #[test]
    fn every_order_is_one_cycle_through_every_cell() {
        for words in [16, 17, 100, 512, 1000, 1024, 5 * 512 + 77, 40_000] {
            for order in ORDERS {
                for seed in [0, 1, 0xdead_beef] {
                    let Some(route) = Route::new(words, order, seed) else { continue };
                    let mut seen = vec![false; words];
                    for step in 0..route.lap() {
                        let cell = route.cell(step);
                        assert_eq!(route.step(cell), Some(step), "{order:?} over {words} words");
                        assert!(!std::mem::replace(&mut seen[usize::try_from(cell).unwrap()], true));
                    }
                    let cells = (0..words as u64).filter(|word| route.step(*word).is_some()).count();
                    assert_eq!(cells as u64, route.lap());
                }
            }
        }
    }

    #[test]
    fn senseless_orders_are_refused() {
        for order in [
            ChasePattern::Strided(0),
            ChasePattern::Strided(12),
            ChasePattern::PageLocal(64),
            ChasePattern::PageRandom(4095),
        ] {
            assert!(Route::new(100_000, order, 1).is_none(), "{order:?}");
        }
        assert!(Route::new(15, ChasePattern::Random, 1).is_none());
        assert!(Route::new(0, ChasePattern::Random, 1).is_none());
    }

    #[test]
    fn seeds_differ_and_a_random_walk_spreads() {
        let (one, two) = (
            Route::new(1 << 16, ChasePattern::Random, 1).unwrap(),
            Route::new(1 << 16, ChasePattern::Random, 2).unwrap(),
        );
        let same = (0..one.lap()).filter(|step| one.cell(*step) == two.cell(*step)).count();
        assert!(same < 20, "{same} of {} places agree between two seeds", one.lap());
        // Of 8192 hops between 8192 lines a random permutation has about two to a neighbouring line and about 64 within
        // the same 4 KiB. Hop lengths are uniform: each eighth of the lengths has its share.
        let hop = |step| one.cell(one.add(step, 1)).abs_diff(one.cell(step)) / 8;
        assert!((0..one.lap()).filter(|step| hop(*step) == 1).count() < 20);
        let forward = |step| (one.cell(one.add(step, 1)) + (1 << 16) - one.cell(step)) % (1 << 16) / (1 << 13);
        for part in 0..8 {
            let share = (0..one.lap()).filter(|step| forward(*step) == part).count();
            assert!((850..1200).contains(&share), "{share} of 8192 hops fall in eighth {part}");
        }
    }

    #[test]
    fn page_orders_keep_their_word() {
        let page = |cell: u64| cell / 512;
        let local = Route::new(64 * 512, ChasePattern::PageLocal(4096), 3).unwrap();
        let changes = (1..local.lap()).filter(|s| page(local.cell(*s)) != page(local.cell(s - 1))).count();
        assert_eq!(changes, 63);
        let random = Route::new(64 * 512, ChasePattern::PageRandom(4096), 3).unwrap();
        let changes = (1..random.lap()).filter(|s| page(random.cell(*s)) != page(random.cell(s - 1))).count();
        assert_eq!(changes as u64, random.lap() - 1);
    }

    #[test]
    fn steps_add_up_without_overflow() {
        let route = Route::new(40, ChasePattern::Random, 1).unwrap();
        assert_eq!(route.add(4, u64::MAX), 4);
        assert_eq!(route.add(4, u64::MAX - 4), 0);
    }
}
