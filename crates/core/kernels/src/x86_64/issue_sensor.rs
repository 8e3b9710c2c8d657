//! The issue sensor: instructions that pass the front end of the core and need nothing else.

use crate::core_sensor::ISSUE_ITERATION;

/// Runs a number of iterations of [`ISSUE_ITERATION`] instructions, at least one, and returns the remaining ones, zero.
#[inline(never)]
pub(crate) fn run(iterations: u64) -> u64 {
    let mut left = iterations.max(1);
    // SAFETY: the assembly touches the one declared register and no memory.
    unsafe {
        std::arch::asm!(
            ".p2align 6",
            "2:",
            ".rept {nops}",
            "nop",
            ".endr",
            "dec {left}",
            "jnz 2b",
            nops = const ISSUE_ITERATION - 2,
            left = inout(reg) left,
            options(nomem, nostack),
        );
    }
    left
}
