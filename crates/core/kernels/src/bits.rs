//! Expected results of the bit-counting loops.

use super::LoopCost;
use super::counted_loop::WORDS;

/// Words of the page that one iteration of a bit-counting loop reads.
pub(super) const WORDS_PER_ITERATION: usize = 64;

/// An iteration that reads them one by one.
pub(super) const ITERATION: LoopCost = LoopCost {
    elements: WORDS_PER_ITERATION as u64,
    bytes_read: 8 * WORDS_PER_ITERATION as u64,
    bytes_written: 0,
    loads: WORDS_PER_ITERATION as u64,
    stores: 0,
    flops: 0,
    ops: WORDS_PER_ITERATION as u64,
};

/// The number of ones in the words of an iteration, times the iterations.
pub(super) fn popcount_expected(iterations: u64) -> u64 {
    let slow = |mut word: u64| {
        let mut ones = 0;
        while word != 0 {
            word &= word - 1;
            ones += 1;
        }
        ones
    };
    iterations.wrapping_mul(WORDS.0[..WORDS_PER_ITERATION].iter().map(|word| slow(*word)).sum::<u64>())
}
