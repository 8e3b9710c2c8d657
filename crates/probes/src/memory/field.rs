//! The memory that bandwidth figures work on, prepared once for all of them that share a launch.
//!
//! Every thread owns a plot near its CPU. A plot is walked a piece at a time, so that a batch is short whatever the size of the
//! field, and each batch goes on where the last one ended.

use std::cell::RefCell;

use sys::memory::{Arena, Pages};

use crate::prelude::*;
use crate::team::ThreadTeam;

/// Axes on which probes must agree to share a field.
pub(super) const SHARED_AXES: &[&str] = &["working_set", "threads", "pages"];

/// Length of a piece of an array, in doubles: 1 MiB.
const PIECE: usize = (MIB / 8) as usize;
/// Arrays start so many doubles apart from a whole page, an odd number of lines: arrays that start alike on their pages
/// disturb each other in the first cache.
const STAGGER: usize = 17 * 8;
/// Arrays that a kernel uses at most.
const ARRAYS: usize = 3;

/// One thread's part of a field.
pub(super) struct ArrayChunk {
    arena: Arena,
    bytes: usize,
}

/// Where a batch walks: arrays of a plot, and pieces of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass {
    /// Arrays that the kernel uses, 1 to 3.
    pub(super) arrays: usize,
    /// First piece, counted without end: modulo the pieces of the plot.
    pub(super) from: u64,
    /// Pieces to walk.
    pub(super) pieces: u64,
}

impl ArrayChunk {
    fn new(bytes: usize, pages: Pages) -> Result<Self, Unsupported> {
        let room = bytes + ARRAYS * STAGGER * 8;
        let mut arena = Arena::populated(room, pages)?;
        // Small whole numbers: sums of any number of them stay exact.
        arena.doubles_mut().iter_mut().enumerate().for_each(|(at, x)| *x = ((at * 7 + 3) % 61) as f64);
        Ok(Self { arena, bytes })
    }

    /// Elements of one array when the plot is divided in so many.
    fn length(&self, arrays: usize) -> usize {
        let length = self.bytes / 8 / arrays;
        if length > PIECE { length / PIECE * PIECE } else { (length / 8).max(1) * 8 }
    }

    /// Elements of one piece.
    pub(super) fn piece(&self, arrays: usize) -> usize {
        self.length(arrays).min(PIECE)
    }

    /// The arrays of one piece: the destination and the two inputs, empty where fewer are used.
    pub(super) fn arrays(&mut self, arrays: usize, piece: u64) -> [&mut [f64]; ARRAYS] {
        let (length, size) = (self.length(arrays), self.piece(arrays));
        let at = (piece % (length / size) as u64) as usize * size;
        let (first, rest) = self.arena.doubles_mut().split_at_mut(if arrays > 1 { length + STAGGER } else { length });
        let (second, third) = rest.split_at_mut(if arrays > 2 { length + STAGGER } else { rest.len().min(length) });
        let part = |array: usize, whole| if array < arrays { cut(whole, at, size) } else { Default::default() };
        [part(0, first), part(1, second), part(2, third)]
    }

    /// Does something to every piece of a walk and adds up what it returns.
    pub(super) fn walk(&mut self, walk: Pass, mut work: impl FnMut([&mut [f64]; ARRAYS]) -> u64) -> u64 {
        (walk.from..walk.from + walk.pieces)
            .fold(0, |sum: u64, piece| sum.wrapping_add(work(self.arrays(walk.arrays, piece))))
    }

    /// Shows one element of every piece of a walk, another in each, and adds up what is said about them.
    pub(super) fn marks(
        &mut self,
        walk: Pass,
        mut look: impl FnMut([&mut [f64]; ARRAYS], usize) -> Option<u64>,
    ) -> u64 {
        let size = self.piece(walk.arrays);
        (walk.from..walk.from + walk.pieces).fold(0, |sum: u64, piece| {
            let mark = (piece as usize).wrapping_mul(7919) % size;
            sum.wrapping_add(look(self.arrays(walk.arrays, piece), mark).unwrap_or(0))
        })
    }

    /// Whether a pass over a whole array is shorter than a piece: passes then repeat inside the kernel.
    pub(super) fn is_small(&self, arrays: usize) -> bool {
        self.length(arrays) <= PIECE
    }
}

fn cut(whole: &mut [f64], at: usize, size: usize) -> &mut [f64] {
    &mut whole[at..at + size]
}

/// A field: one plot a thread.
pub(super) type Field = RefCell<ThreadTeam<ArrayChunk>>;

/// The field of a point, prepared now or by an earlier sharer.
pub(super) fn field(at: &Point, bench: &mut ProbeContext) -> Result<Rc<Field>, Unsupported> {
    let bytes = at.bytes("working_set")?;
    let pages: Pages = at.get("pages").unwrap_or("base").parse()?;
    let cpus = bench.cpus().to_vec();
    let threads = cpus.len().max(1);
    let available = sys::memory::available_bytes()?;
    if bytes > available / 4 * 3 {
        return Err(Unsupported::new(format!("{} of memory are available", model::format_size(available / MIB * MIB))));
    }
    let each = bytes as usize / threads;
    if each < ARRAYS * 64 {
        return Err(Unsupported::new("the working set is too small for so many threads"));
    }
    let key = format!("field {bytes} {threads} {}", at.get("pages").unwrap_or("base"));
    let field =
        bench.shared(&key, || Ok(RefCell::new(ThreadTeam::spawn(&cpus, move |_| ArrayChunk::new(each, pages))?)))?;
    for (member, tid) in field.borrow().tids().iter().enumerate() {
        bench.watch(member + 1, *tid);
    }
    Ok(field)
}
