//! Expected result of the SHA-256 loop.

use super::counted_loop::WORDS;
use super::reference::sha256;

/// The block that is hashed repeatedly: the first of the random words.
fn block() -> [u32; 16] {
    std::array::from_fn(|i| (WORDS.0[i / 2] >> (32 * (i % 2))) as u32)
}

/// The hash value as two 64-bit quarters, added.
fn fold([a, b, c, d, e, f, g, h]: [u32; 8]) -> u64 {
    let join = |high, low| u64::from(high) << 32 | u64::from(low);
    [join(e, f), join(a, b), join(g, h), join(c, d)].iter().fold(0, |sum: u64, part| sum.wrapping_add(*part))
}

/// One block per iteration, each starting from the previous hash value.
pub(super) fn expected(iterations: u64) -> u64 {
    let block = block();
    fold((0..iterations).fold(sha256::START, |hash, _| sha256::compress(hash, block)))
}
