//! The operations that other tools time, in this program's own code: shows whether a ratio other than 1 comes from the
//! operation or from the measurement (`benches/peers.py`). It prints seconds per operation, or bytes per second.
//!
//! - `futex`: waits for a word that already has another value (`perf bench futex hash`).
//! - `memcpy BYTES`: copies an array to another by one call of the C library's memcpy (`mbw -t1`).
//! - `write BYTES`: stores in every word the number of words that follow, computed from its address, with two clock
//!   readings per pass (`sysbench memory --memory-oper=write`).
//! - `store BYTES`: the same with one value for all words.
//! - `read BYTES`: loads word by word (`sysbench memory --memory-oper=read`).

#![expect(clippy::print_stdout, reason = "a program for people")]

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use kernels::clock::now;
use kernels::futex::{FutexScope, wait};
use kernels::memory::{Arena, Pages};

/// Minimum duration of a measurement, nanoseconds.
const LONG: u64 = 700_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let what = words.first().map_or("", String::as_str);
    let bytes = words.get(1).map_or(Ok(1 << 20), |word| word.parse::<usize>().map_err(|_| "not a number of bytes"))?;
    let found = match what {
        "futex" => futex()?,
        "memcpy" => copied(bytes, |to, from| kernels::copy::memcpy_library(to, from, 1))?,
        "write" => walked(bytes, |words| {
            let end = words.as_ptr_range().end as u64;
            let distance = |word: &AtomicU64| (end - opaque(word.as_ptr() as u64)) >> 3;
            // Eight words per iteration, as its compiler generates.
            words.as_chunks::<8>().0.iter().flatten().for_each(|word| word.store(distance(word), Ordering::Relaxed));
        }),
        "store" => walked(bytes, |words| words.iter().for_each(|word| word.store(7, Ordering::Relaxed))),
        "read" => walked(bytes, |words| {
            words.as_chunks::<8>().0.iter().flatten().for_each(|word| _ = opaque(word.load(Ordering::Relaxed)));
        }),
        _ => return Err("futex, memcpy BYTES, write BYTES, store BYTES or read BYTES".into()),
    };
    println!("{found:e}");
    Ok(())
}

/// Returns the number in a register, of unknown value to the compiler.
#[inline]
fn opaque(number: u64) -> u64 {
    let mut known = number;
    // SAFETY: no instruction is added.
    unsafe { std::arch::asm!("/* {0} */", inout(reg) known, options(nomem, nostack, preserves_flags)) };
    known
}

fn futex() -> kernels::Result<f64> {
    let (word, mut calls, began) = (AtomicU32::new(0), 0_u64, now());
    while now() - began < LONG {
        for _ in 0..10_000 {
            wait(&word, 1234, None, FutexScope::Process)?;
        }
        calls += 10_000;
    }
    Ok((now() - began) as f64 * 1e-9 / calls as f64)
}

fn copied(bytes: usize, copy: impl Fn(&mut [u64], &[u64])) -> kernels::Result<f64> {
    let (mut to, mut from) = (Arena::populated(bytes, Pages::System)?, Arena::populated(bytes, Pages::System)?);
    from.words_mut().iter_mut().zip(1..).for_each(|(word, at)| *word = at);
    Ok(rate(bytes, || copy(to.words_mut(), from.words())))
}

fn walked(bytes: usize, walk: impl Fn(&[AtomicU64])) -> f64 {
    let words: Vec<AtomicU64> = (0..bytes / 8).map(|_| AtomicU64::new(0)).collect();
    rate(bytes, || {
        black_box(now());
        walk(black_box(&words));
        black_box(now());
    })
}

/// Bytes per second of passes, without the first.
fn rate(bytes: usize, mut pass: impl FnMut()) -> f64 {
    pass();
    let (mut passes, began) = (0_u64, now());
    while now() - began < LONG {
        pass();
        passes += 1;
    }
    passes as f64 * bytes as f64 / ((now() - began) as f64 * 1e-9)
}
