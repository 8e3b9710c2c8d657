//! The contention sensor: register adds on six chains, as many per cycle as the core executes for this thread.

use crate::core_sensor::{CHAINS, CONTENTION_ITERATION};

/// Runs a number of iterations of [`CONTENTION_ITERATION`] adds, at least one.
#[inline(never)]
pub(crate) fn run(iterations: u64) -> u64 {
    let (mut a, mut b, mut c, mut d, mut e, mut f) = (1_u64, 1_u64, 1_u64, 1_u64, 1_u64, 1_u64);
    // SAFETY: the assembly touches the eight declared registers and no memory.
    unsafe {
        std::arch::asm!(
            ".p2align 6",
            "2:",
            ".rept {rows}",
            "add {a}, {step}",
            "add {b}, {step}",
            "add {c}, {step}",
            "add {d}, {step}",
            "add {e}, {step}",
            "add {f}, {step}",
            ".endr",
            "dec {iterations}",
            "jnz 2b",
            rows = const CONTENTION_ITERATION / CHAINS,
            a = inout(reg) a,
            b = inout(reg) b,
            c = inout(reg) c,
            d = inout(reg) d,
            e = inout(reg) e,
            f = inout(reg) f,
            step = in(reg) 3_u64,
            iterations = inout(reg) iterations.max(1) => _,
            options(nomem, nostack),
        );
    }
    [b, c, d, e, f].into_iter().fold(a, u64::wrapping_add)
}
