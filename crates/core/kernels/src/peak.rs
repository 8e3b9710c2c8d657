//! Expected results of the loops of fused multiply-adds, byte dot products, AES rounds and checksums.
//!
//! Each but the last has twelve independent chains, enough for two units with latencies of up to six cycles. At the end
//! all chains are added as 64-bit integers, lane by lane, so nothing is rounded and a chain with too few steps is
//! detected.

use super::counted_loop::WORDS;
use super::reference::{aes, crc32c};

/// Independent chains.
pub(super) const CHAINS: u64 = 12;

fn total(iterations: u64, lanes: u64, bits: impl Fn(u64) -> u64) -> u64 {
    let sum = (0..CHAINS).fold(0_u64, |total, chain| total.wrapping_add(bits(chain.wrapping_add(iterations))));
    sum.wrapping_mul(lanes)
}

/// x * 1 + 1 from k in chain k; exact below 2^53.
pub(super) fn fma_f64_expected<const LANES: u64>(iterations: u64) -> u64 {
    total(iterations, LANES, |x| (x.min(1 << 53) as f64).to_bits())
}

/// The same with two floats in each 64 bits; from 2^24 on adding 1 changes nothing.
pub(super) fn fma_f32_expected<const LANES: u64>(iterations: u64) -> u64 {
    total(iterations, LANES, |x| u64::from((x.min(1 << 24) as f32).to_bits()) * 0x1_0000_0001)
}

/// Bytes of the dot product: unsigned in one operand, signed in the other.
pub(super) const UNSIGNED: u32 = 0xc8;
pub(super) const SIGNED: u32 = 0xfb;

/// Four products per step and 32-bit lane, wrapping, from k in chain k.
pub(super) fn int8_dot_expected<const LANES: u64>(iterations: u64) -> u64 {
    let step = 4_i64 * i64::from(UNSIGNED as u8) * i64::from(SIGNED as u8 as i8);
    let lane = |chain: u64| chain.wrapping_add(iterations.wrapping_mul(step.cast_unsigned())) as u32;
    (0..CHAINS)
        .fold(0_u64, |sum, chain| sum.wrapping_add(u64::from(lane(chain)).wrapping_mul(0x1_0000_0001)))
        .wrapping_mul(LANES)
}

/// The first state and the round key of the AES loops, in both halves.
pub(super) const AES_STATE: u64 = 0x0f1e_2d3c_4b5a_6978;
pub(super) const AES_KEY: u64 = 0x9e37_79b9_7f4a_7c15;

/// AES rounds in an iteration of the latency loop.
pub(super) const AES_ROUNDS: u64 = 12;

fn aes_rounds(rounds: u64) -> u64 {
    let twice = |half| u128::from(half) << 64 | u128::from(half);
    let state = (0..rounds).fold(twice(AES_STATE), |state, _| aes::round(state, twice(AES_KEY)));
    (state as u64).wrapping_add((state >> 64) as u64)
}

/// One chain.
pub(super) fn aes_latency_expected(iterations: u64) -> u64 {
    aes_rounds(iterations.wrapping_mul(AES_ROUNDS))
}

/// Twelve equal chains with a number of 128-bit lanes.
pub(super) fn aes_throughput_expected<const LANES: u64>(iterations: u64) -> u64 {
    aes_rounds(iterations).wrapping_mul(CHAINS * LANES)
}

/// Chains of the checksum loop, each of which reads eight words per iteration, one chain after the other.
pub(super) const CRC_CHAINS: usize = 4;
/// Words that each of them reads.
pub(super) const CRC_WORDS: usize = 8;

/// The sum of the chains' registers, which start with all ones.
pub(super) fn crc32c_expected(iterations: u64) -> u64 {
    let chain =
        |words: &[u64]| (0..iterations).fold(!0, |crc, _| words.iter().fold(crc, |crc, word| crc32c::step(crc, *word)));
    WORDS.0.chunks_exact(CRC_WORDS).take(CRC_CHAINS).map(|words| u64::from(chain(words))).sum()
}
