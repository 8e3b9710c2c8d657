//! Loops of counted instructions: the rate of a CPU when one kind of instruction limits it.
//!
//! All have the same structure: they run a number of iterations, perform the declared operations in each, and return a
//! number that depends on every one of them. [`CountedLoop::expected`] computes that number by a slow path without
//! common code.

use super::LoopCost;
use crate::{Error, Result};

/// One loop.
#[derive(Debug)]
pub struct CountedLoop {
    /// Its name in snake case: `divide_latency_f64`. Several loops may do the same with different instructions.
    pub name: &'static str,
    /// The instruction set: `portable` is Rust for every architecture.
    pub isa: &'static str,
    /// One iteration.
    pub iteration: LoopCost,
    /// The instruction that does the work, as in the disassembly; empty if the compiler chooses.
    pub instruction: &'static str,
    /// Operations (`iteration.ops`) per execution of the instruction.
    pub each: u64,
    /// Path of the loop's function inside this crate's `kernel` module, as in the disassembly.
    pub symbol: &'static str,
    /// Required features of the CPU.
    pub needs: &'static str,
    pub(super) present: fn() -> bool,
    pub(super) body: unsafe fn(u64) -> u64,
    pub(super) expected: fn(u64) -> u64,
}

impl CountedLoop {
    /// Runs a number of iterations.
    ///
    /// # Errors
    /// If this CPU lacks the instructions.
    pub fn run(&self, iterations: u64) -> Result<u64> {
        self.check()?;
        // SAFETY: `check` found the instructions; the loops access only registers and constant data.
        Ok(unsafe { (self.body)(iterations) })
    }

    /// Expected result of [`CountedLoop::run`], by plain code that is about ten times slower.
    #[must_use]
    pub fn expected(&self, iterations: u64) -> u64 {
        (self.expected)(iterations)
    }

    /// Whether it can run here.
    ///
    /// # Errors
    /// If this CPU lacks the instructions.
    pub fn check(&self) -> Result<()> {
        if (self.present)() {
            return Ok(());
        }
        Err(Error::refused(format!("run {} with {}", self.name, self.isa), format!("this CPU lacks {}", self.needs)))
    }
}

/// Random words for the loops that read, one page of them.
#[repr(C, align(4096))]
pub(super) struct Words(pub(super) [u64; 512]);

pub(super) static WORDS: Words = Words(random_words());

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
const fn random_words() -> [u64; 512] {
    let mut words = [0; 512];
    let mut state = 0_u64;
    let mut i = 0;
    while i < words.len() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        words[i] = z ^ (z >> 31);
        i += 1;
    }
    words
}
