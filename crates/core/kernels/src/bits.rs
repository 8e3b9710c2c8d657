//! Expected results of the bit-counting loops.

use super::LoopCost;
use super::counted_loop::WORDS;

/// Words of the page that one turn of a bit-counting loop reads.
pub(super) const WORDS_A_TURN: usize = 64;

/// A turn that reads them one by one.
pub(super) const TURN: LoopCost = LoopCost {
    elements: WORDS_A_TURN as u64,
    bytes_read: 8 * WORDS_A_TURN as u64,
    bytes_written: 0,
    loads: WORDS_A_TURN as u64,
    stores: 0,
    flops: 0,
    ops: WORDS_A_TURN as u64,
};

/// The number of ones in the words of a turn, times the turns.
pub(super) fn popcount_expected(turns: u64) -> u64 {
    let slow = |mut word: u64| {
        let mut ones = 0;
        while word != 0 {
            word &= word - 1;
            ones += 1;
        }
        ones
    };
    turns.wrapping_mul(WORDS.0[..WORDS_A_TURN].iter().map(|word| slow(*word)).sum::<u64>())
}
