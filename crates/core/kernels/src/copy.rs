//! Copying memory by a library and by a plain loop.

use std::ffi::c_void;
use std::hint::black_box;

use super::LoopCost;
use super::native::access::{WORDS, load, move_words, store};

unsafe extern "C" {
    /// ISO C, 7.24.2.1, in the implementation that the C library selects for this CPU.
    fn memcpy(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
}

type Memcpy = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void;

/// One 64-bit word of either kernel; bytes are copied once, so `bytes_written` is the result's count.
pub const WORD: LoopCost =
    LoopCost { elements: 1, bytes_read: 8, bytes_written: 8, loads: 1, stores: 1, flops: 0, ops: 1 };

/// Words that one iteration of [`memcpy_unrolled`] copies.
pub const UNROLL: usize = WORDS;

/// Copies `from` to `to`, `passes` times, by the C library's `memcpy`. The call uses a pointer that is opaque to the
/// compiler, so it is neither inlined nor dropped.
///
/// # Panics
/// If the lengths differ.
#[inline(never)]
pub fn memcpy_library(to: &mut [u64], from: &[u64], passes: usize) {
    assert_eq!(to.len(), from.len(), "memcpy needs slices of one length");
    for _ in 0..passes {
        let call: Memcpy = black_box(memcpy);
        // SAFETY: both are valid for their common length, and an exclusive slice cannot overlap another.
        unsafe { call(to.as_mut_ptr().cast(), from.as_ptr().cast(), size_of_val(from)) };
    }
}

/// Copies `from` to `to`, `passes` times, by 64-bit loads and stores, eight per iteration. The accesses are opaque: the
/// compiler can neither widen them nor replace the loop by a library call.
///
/// # Panics
/// If the lengths differ.
#[inline(never)]
pub fn memcpy_unrolled(to: &mut [u64], from: &[u64], passes: usize) {
    assert_eq!(to.len(), from.len(), "memcpy needs slices of one length");
    for _ in 0..passes {
        let (to, to_rest) = to.as_chunks_mut::<UNROLL>();
        let (from, from_rest) = from.as_chunks::<UNROLL>();
        for (to, from) in to.iter_mut().zip(from) {
            move_words(to, from);
        }
        for (to, from) in to_rest.iter_mut().zip(from_rest) {
            // SAFETY: both are references.
            unsafe { store(to, load(from)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_every_length_and_nothing_beyond() {
        for copy in [memcpy_library, memcpy_unrolled] {
            for length in 0..40 {
                let from: Vec<u64> = (1..=64).collect();
                let mut to = vec![0_u64; 64];
                copy(&mut to[3..3 + length], &from[1..=length], 2);
                assert_eq!(to[3..3 + length], from[1..=length]);
                assert!(to[..3].iter().chain(&to[3 + length..]).all(|word| *word == 0));
            }
        }
    }

    #[test]
    #[should_panic(expected = "one length")]
    fn unequal_lengths_are_refused() {
        memcpy_unrolled(&mut [0; 4], &[0; 5], 1);
    }
}
