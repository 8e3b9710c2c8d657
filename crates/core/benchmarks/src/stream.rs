//! Blocks of data from another process at the highest rate.

use std::fs::File;

use kernels::memory::{Arena, Pages};

use crate::line::{peer_ended, pipe, receive, send};
use crate::peer_process::{PeerProcess, fold};
use crate::{BatchWork, BenchmarkContext, BenchmarkError, DeclaredCost, Kernel, Parameter, Unsupported};

/// Whether the parties access the data, or only the kernel copies it.
pub(crate) const DATA: &[&str] = &["copied", "touched"];

/// The parameter of block sizes.
pub(crate) const BLOCK: Parameter =
    Parameter::choice("block", &["4KiB", "16KiB", "64KiB", "256KiB", "1MiB"], &["64KiB"]);

/// A peer writes blocks and this process reads them. Touched: the peer writes every word of a block before sending it,
/// and every word is summed here. Copied: only the first word is accessed, which identifies the block.
pub(crate) struct StreamKernel {
    from: File,
    orders: File,
    _peer: PeerProcess,
    block: Arena,
    touched: bool,
    began: u64,
    next: u64,
}

impl StreamKernel {
    /// Forks the peer, which copies from `from` to `to` in blocks of `bytes` (a multiple of 8).
    ///
    /// # Errors
    /// When it could not be forked or pinned, or there is not enough memory.
    pub(crate) fn start(
        context: &mut BenchmarkContext,
        (from, to): (File, File),
        bytes: usize,
        touched: bool,
    ) -> Result<Self, Unsupported> {
        let (far_orders, orders) = pipe()?;
        let (peer, (from, orders)) =
            PeerProcess::start(context, 1, (from, orders), (far_orders, to), |(orders, to)| {
                let mut block = Arena::populated(bytes, Pages::System)?;
                let (mut order, mut number) = ([0; 8], 0);
                while receive(&orders, &mut order)? {
                    for _ in 0..u64::from_ne_bytes(order) {
                        fill(block.words_mut(), number, touched);
                        send(&to, block.bytes())?;
                        number += 1;
                    }
                }
                Ok(())
            })?;
        let block = Arena::populated(bytes, Pages::System)?;
        Ok(Self { from, orders, _peer: peer, block, touched, began: 0, next: 0 })
    }
}

impl Kernel for StreamKernel {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.next;
        send(&self.orders, &ops.to_ne_bytes())?;
        let mut token = 0;
        for _ in 0..ops {
            if !receive(&self.from, self.block.bytes_mut())? {
                return Err(peer_ended());
            }
            token = fold(token, look(self.block.words(), self.touched));
            self.next += 1;
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let words = (self.block.len() / 8) as u64;
        let numbers = self.began..self.began + done.ops;
        BenchmarkError::unless_equal(
            done.token,
            numbers.fold(0, |token, number| fold(token, expected(number, words, self.touched))),
        )
    }

    fn amount(&self) -> f64 {
        self.block.len() as f64
    }

    fn declared(&self) -> Option<DeclaredCost> {
        let touched = if self.touched { self.block.len() as f64 } else { 8.0 };
        Some(DeclaredCost { bytes_read: touched, bytes_written: touched, operations: 1.0 })
    }
}

/// First word of block `number`; word `index` is this plus `index`.
fn first(number: u64) -> u64 {
    (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn fill(words: &mut [u64], number: u64, touched: bool) {
    let count = if touched { words.len() } else { 1 };
    for (index, word) in words[..count].iter_mut().enumerate() {
        *word = first(number).wrapping_add(index as u64);
    }
}

fn look(words: &[u64], touched: bool) -> u64 {
    if touched { words.iter().fold(0, |sum: u64, word| sum.wrapping_add(*word)) } else { words[0] }
}

/// The expected token of block `number`, computed without the block.
fn expected(number: u64, words: u64, touched: bool) -> u64 {
    if touched { first(number).wrapping_mul(words).wrapping_add(words * (words - 1) / 2) } else { first(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_distinct_and_one_changed_word_is_detected() {
        let mut words = vec![0; 512];
        for number in 0..20 {
            for touched in [false, true] {
                fill(&mut words, number, touched);
                assert_eq!(look(&words, touched), expected(number, 512, touched));
                assert_ne!(look(&words, touched), expected(number + 1, 512, touched));
            }
            words[300] ^= 4;
            assert_ne!(look(&words, true), expected(number, 512, true));
        }
    }
}
