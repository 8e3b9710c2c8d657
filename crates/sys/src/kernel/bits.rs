//! What the bit-counting and checksum loops must return.

use super::Declared;
use super::counted::WORDS;
use super::reference::crc32c;

/// Words of the page that one turn of a bit-counting loop reads.
pub(super) const WORDS_A_TURN: usize = 64;

/// A turn that reads them one by one.
pub(super) const TURN: Declared = Declared {
    elements: WORDS_A_TURN as u64,
    bytes_read: 8 * WORDS_A_TURN as u64,
    bytes_written: 0,
    loads: WORDS_A_TURN as u64,
    stores: 0,
    flops: 0,
    ops: WORDS_A_TURN as u64,
};

/// The ones of the words that a turn reads, times the turns.
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

/// Chains of the checksum loop, which each read eight words a turn, one chain after the other.
pub(super) const CRC_CHAINS: usize = 4;
/// Words that each of them reads.
pub(super) const CRC_WORDS: usize = 8;

/// The sum of the chains' registers, which start with all ones.
pub(super) fn crc32c_expected(turns: u64) -> u64 {
    let chain =
        |words: &[u64]| (0..turns).fold(!0, |crc, _| words.iter().fold(crc, |crc, word| crc32c::step(crc, *word)));
    WORDS.0.chunks_exact(CRC_WORDS).take(CRC_CHAINS).map(|words| u64::from(chain(words))).sum()
}
