//! The clock reference: dependent register adds, one per cycle.

use crate::core_sensor::CLOCK_TURN;

/// Runs a number of turns of [`CLOCK_TURN`] dependent adds, at least one. The operand is a register: an add of an
/// immediate is merged with the next one at rename on Golden Cove, and would measure nothing.
#[inline(never)]
pub(crate) fn run(turns: u64) -> u64 {
    let mut sum = 1_u64;
    // SAFETY: the assembly touches the three declared registers and no memory.
    unsafe {
        std::arch::asm!(
            ".p2align 6",
            "2:",
            ".rept {adds}",
            "add {sum}, {step}",
            ".endr",
            "dec {turns}",
            "jnz 2b",
            adds = const CLOCK_TURN,
            sum = inout(reg) sum,
            step = in(reg) 3_u64,
            turns = inout(reg) turns.max(1) => _,
            options(nomem, nostack),
        );
    }
    sum
}
