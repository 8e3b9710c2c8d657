//! The clock sensor: dependent register adds, one per cycle.

use crate::core_sensor::CLOCK_ITERATION;

/// Runs a number of iterations of [`CLOCK_ITERATION`] dependent adds, at least one. The operand is a register: an add of an
/// immediate is merged with the next one at rename on Golden Cove, and would measure nothing.
#[inline(never)]
pub(crate) fn run(iterations: u64) -> u64 {
    let mut sum = 1_u64;
    // SAFETY: the assembly touches the three declared registers and no memory.
    unsafe {
        std::arch::asm!(
            ".p2align 6",
            "2:",
            ".rept {adds}",
            "add {sum}, {step}",
            ".endr",
            "dec {iterations}",
            "jnz 2b",
            adds = const CLOCK_ITERATION,
            sum = inout(reg) sum,
            step = in(reg) 3_u64,
            iterations = inout(reg) iterations.max(1) => _,
            options(nomem, nostack),
        );
    }
    sum
}
