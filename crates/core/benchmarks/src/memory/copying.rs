//! Common parts of the two copies: source and destination in the arrays of the bandwidth results, walked piece by
//! piece.

use std::sync::Arc;

use super::arrays::{ArrayUser, Arrays, MANY, arrays};
use super::visits::ArrayDivision;
use crate::prelude::*;

/// A copying kernel: destination, source, passes.
type CopyKernel = fn(&mut [u64], &[u64], usize);

/// Words of a piece: 1 MiB.
const PIECE: usize = (MIB / 8) as usize;
/// Words of offset between source and destination beyond whole pages.
const STAGGER: usize = 17 * 8;
/// Value of a word that the batch must overwrite.
const SPOILED: u64 = u64::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceLength {
    /// One piece.
    Whole,
    /// 1 MiB, up to twice as much where there are few.
    About,
    /// 1 MiB; the remainder after the last piece is not copied.
    Exact,
}

/// Words of a piece, and of all pieces together.
fn divide(words: usize, length: PieceLength) -> (usize, usize) {
    match words / PIECE {
        0 => (words, words),
        _ if length == PieceLength::Whole => (words, words),
        count if length == PieceLength::About && count < MANY => (words / count, words / count * count),
        count => (PIECE, PIECE * count),
    }
}

/// A copy in pieces.
pub(super) fn prepare(
    copy: CopyKernel,
    length: PieceLength,
    at: &Parameters,
    context: &mut BenchmarkContext,
) -> Result<Trial, Unsupported> {
    let half = at.bytes("working_set")? as usize / 16;
    let (piece, words) = divide(half, length);
    if words < half / 16 * 15 {
        context.note(format!("of each half {words} words in whole pieces are copied, out of {half}"));
    }
    let memory = arrays(at, context)?;
    let user = memory.user();
    Ok(Trial::one(Copying { memory, user, copy, words, piece, pieces: [0].into(), next: 0 }))
}

struct Copying {
    memory: Rc<Arrays>,
    user: ArrayUser,
    copy: CopyKernel,
    /// Words of the source, and of the destination.
    words: usize,
    /// Words of a piece.
    piece: usize,
    /// The pieces of a batch (a small one repeats), and the step of the walk after them.
    pieces: Arc<[u64]>,
    next: u64,
}

impl Copying {
    /// Whether operations are passes over one short piece.
    fn is_small(&self) -> bool {
        self.words <= PIECE
    }

    fn division(&self) -> ArrayDivision {
        let starts = [0, (self.words + STAGGER) * 8, 0];
        ArrayDivision { starts, arrays: 2, piece: self.piece * 8, count: (self.words / self.piece) as u64 }
    }

    /// Destination and source of a piece.
    fn split<'a>(&self, memory: &'a mut [u64], piece: u64) -> (&'a mut [u64], &'a mut [u64]) {
        let size = self.piece;
        let at = (piece % (self.words / size) as u64) as usize * size;
        let (to, from) = memory.split_at_mut(self.words + STAGGER);
        (&mut to[at..at + size], &mut from[at..at + size])
    }
}

impl Copying {
    /// Index of the word of a piece that is invalidated before a batch and read afterwards.
    fn mark(&self, piece: u64) -> usize {
        (piece as usize).wrapping_mul(7919) % self.piece
    }
}

impl Kernel for Copying {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let passes = if self.is_small() { ops as usize } else { 1 };
        let mut team = self.memory.borrow_mut();
        let memory = team.own().words();
        let mut token = 0;
        for piece in self.pieces.iter() {
            let (to, from) = self.split(memory, *piece);
            (self.copy)(to, from, passes);
            // One of the written words proves that the piece was written.
            token = to[self.mark(*piece)];
        }
        Ok(BatchWork { ops, token: token.wrapping_add(self.next + ops) })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let mut team = self.memory.borrow_mut();
        let memory = team.own().words();
        let mut last = 0;
        for piece in self.pieces.iter() {
            let (to, from) = self.split(memory, *piece);
            let mark = self.mark(*piece);
            BenchmarkError::unless_equal(to[mark], from[mark])?;
            last = from[mark];
        }
        BenchmarkError::unless_equal(done.token, last.wrapping_add(self.next + done.ops))
    }

    fn ready(&mut self, ops: u64) -> Result<(), BenchmarkError> {
        if !self.is_small() {
            (self.pieces, self.next) = self.memory.pass(self.user, &self.division(), self.next, ops)?;
        }
        let mut team = self.memory.borrow_mut();
        let memory = team.own().words();
        for piece in self.pieces.iter() {
            let mark = self.mark(*piece);
            self.split(memory, *piece).0[mark] = SPOILED;
        }
        Ok(())
    }

    fn amount(&self) -> f64 {
        (self.piece * 8) as f64
    }

    fn displaces(&self) -> u64 {
        if self.is_small() { 0 } else { 2 * self.amount() as u64 }
    }

    fn declared(&self) -> Option<DeclaredCost> {
        let bytes = self.amount();
        Some(DeclaredCost { bytes_read: bytes, bytes_written: bytes, operations: 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_of_the_length_that_was_asked_for() {
        assert_eq!(divide(PIECE / 2, PieceLength::Exact), (PIECE / 2, PIECE / 2));
        assert_eq!(divide(3 * PIECE / 2, PieceLength::Exact), (PIECE, PIECE));
        assert_eq!(divide(3 * PIECE / 2, PieceLength::About), (3 * PIECE / 2, 3 * PIECE / 2));
        assert_eq!(divide(5 * PIECE / 2, PieceLength::About), (5 * PIECE / 4, 5 * PIECE / 2));
        assert_eq!(divide(100 * PIECE + 9, PieceLength::About), (PIECE, 100 * PIECE));
        assert_eq!(divide(100 * PIECE + 9, PieceLength::Whole), (100 * PIECE + 9, 100 * PIECE + 9));
    }
}
