//! The issue reference: instructions that pass the front end of the core and need nothing else.

use crate::core_sensor::ISSUE_TURN;

/// Runs a number of turns of [`ISSUE_TURN`] instructions, at least one; returns the turns that are left, none.
#[inline(never)]
pub(crate) fn run(turns: u64) -> u64 {
    let mut left = turns.max(1);
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
            nops = const ISSUE_TURN - 2,
            left = inout(reg) left,
            options(nomem, nostack),
        );
    }
    left
}
