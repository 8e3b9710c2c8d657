//! Counting bits, as Rust compiles it for any CPU.

use std::hint::black_box;

use crate::counted_loop::{CountedLoop, WORDS};
use crate::{LoopCost, bits};

/// Counts the ones of the random words, a number of times.
#[inline(never)]
fn popcount(turns: u64) -> u64 {
    let words = &WORDS.0[..bits::WORDS_A_TURN];
    (0..turns).fold(0, |total, _| total + black_box(words).iter().map(|word| u64::from(word.count_ones())).sum::<u64>())
}

pub(crate) static LOOPS: [CountedLoop; 1] = [CountedLoop {
    name: "popcount",
    isa: "portable",
    turn: LoopCost { stores: 0, ..bits::TURN },
    instruction: "",
    each: 1,
    symbol: "portable::bits::popcount",
    needs: "nothing",
    present: || true,
    body: popcount,
    expected: bits::popcount_expected,
}];
