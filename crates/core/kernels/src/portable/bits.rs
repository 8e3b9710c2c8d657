//! Counting bits, as Rust compiles it for any CPU.

use std::hint::black_box;

use crate::counted_loop::{CountedLoop, WORDS};
use crate::{LoopCost, bits};

/// Counts the ones of the random words, a number of times.
#[inline(never)]
fn popcount(iterations: u64) -> u64 {
    let words = &WORDS.0[..bits::WORDS_PER_ITERATION];
    (0..iterations)
        .fold(0, |total, _| total + black_box(words).iter().map(|word| u64::from(word.count_ones())).sum::<u64>())
}

pub(crate) static LOOPS: [CountedLoop; 1] = [CountedLoop {
    name: "popcount",
    isa: "portable",
    iteration: LoopCost { stores: 0, ..bits::ITERATION },
    instruction: "",
    each: 1,
    symbol: "portable::bits::popcount",
    needs: "nothing",
    present: || true,
    body: popcount,
    expected: bits::popcount_expected,
}];
