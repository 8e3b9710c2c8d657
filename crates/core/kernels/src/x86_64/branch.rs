//! The data-dependent branch as a `jz` that no compiler can make into arithmetic.

use crate::branch::APART;

/// One of several copies, which lie apart. The bytes must not be empty.
#[inline(never)]
pub(crate) fn count_odd<const COPY: usize>(bytes: &[u8]) -> u64 {
    assert!(!bytes.is_empty(), "a branch needs a byte");
    let range = bytes.as_ptr_range();
    let mut odd = 0_u64;
    // SAFETY: reads from the start to the end of the slice, which holds at least one byte.
    unsafe {
        std::arch::asm!(
            "jmp 4f",
            ".skip {apart}, 0x90",
            ".p2align 5",
            "4:",
            "2:",
            "test byte ptr [{at}], 1",
            "jz 3f",
            "inc {odd}",
            "3:",
            "inc {at}",
            "cmp {at}, {end}",
            "jne 2b",
            at = inout(reg) range.start => _,
            end = in(reg) range.end,
            odd = inout(reg) odd,
            apart = const COPY * APART,
            options(nostack, readonly),
        );
    }
    odd
}
