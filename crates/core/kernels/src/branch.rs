//! A data-dependent branch, taken for odd bytes and skipped for even ones.
//!
//! With bytes in random order about half of the branches are mispredicted; with the same bytes in sorted order hardly
//! any are. The work is the same. A predictor learns a random pattern that repeats, so there should be more bytes than
//! it can store: a million, walked from front to back (a server core of 2023 learnt 4096 bytes almost completely,
//! 262144 not at all). They must come from a good generator: the low bits of multiples of a constant were predicted
//! too.

use super::{LoopCost, native};

/// One byte.
pub const BYTE: LoopCost =
    LoopCost { elements: 1, bytes_read: 1, bytes_written: 0, loads: 1, stores: 0, flops: 0, ops: 1 };

/// Bytes of code between two copies of the loop, which put them into different sets of whatever a core indexes by their
/// address.
pub(super) const APART: usize = 224;
/// Copies of the loop, which share the work of a pass. A predictor may treat one loop at one address alike for the life
/// of a process (levels 4% apart, on a core of 2024); several copies average this.
const COPIES: [fn(&[u8]) -> u64; 8] = [
    native::branch::count_odd::<0>,
    native::branch::count_odd::<1>,
    native::branch::count_odd::<2>,
    native::branch::count_odd::<3>,
    native::branch::count_odd::<4>,
    native::branch::count_odd::<5>,
    native::branch::count_odd::<6>,
    native::branch::count_odd::<7>,
];

/// Counts the odd bytes, `passes` times, with one conditional jump per byte. Each eighth is counted by another copy of
/// the loop.
#[must_use]
pub fn count_odd(bytes: &[u8], passes: u64) -> u64 {
    let share = bytes.len().div_ceil(COPIES.len()).max(1);
    let pass = || bytes.chunks(share).zip(COPIES).map(|(share, count)| count(share)).sum::<u64>();
    (0..passes).fold(0, |total, _| total + pass())
}

/// Expected result of [`count_odd`], without a branch.
#[must_use]
pub fn expected(bytes: &[u8], passes: u64) -> u64 {
    passes.wrapping_mul(bytes.iter().map(|byte| u64::from(byte & 1)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_odd_bytes_of_every_length() {
        let bytes: Vec<u8> = (0..300_u32).map(|i| (i * i / 7 % 251) as u8).collect();
        for length in 0..bytes.len() {
            assert_eq!(count_odd(&bytes[..length], 3), expected(&bytes[..length], 3));
        }
        for length in 0..COPIES.len() * 3 {
            assert_eq!(
                COPIES.map(|copy| if length == 0 { 0 } else { copy(&bytes[..length]) }),
                [expected(&bytes[..length], 1); COPIES.len()]
            );
        }
        assert_eq!(count_odd(&[1; 100], 2), 200);
        assert_eq!(count_odd(&[2; 100], 2), 0);
    }
}
