//! One load and one store that the compiler can neither move, merge, widen nor check.

/// # Safety
/// `at` must be readable and aligned.
#[inline(always)]
pub(crate) unsafe fn load(at: *const u64) -> u64 {
    let value;
    // SAFETY: guaranteed by the caller.
    unsafe {
        std::arch::asm!("ldr {value}, [{at}]", at = in(reg) at, value = lateout(reg) value, options(nostack, readonly, preserves_flags));
    };
    value
}

/// Loads the address stored at an address.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
pub(crate) unsafe fn follow(mut at: *const u64) -> *const u64 {
    // SAFETY: guaranteed by the caller.
    unsafe { std::arch::asm!("ldr {at}, [{at}]", at = inout(reg) at, options(nostack, readonly, preserves_flags)) };
    at
}

/// # Safety
/// `at` must be writable and aligned.
#[inline(always)]
pub(crate) unsafe fn store(at: *mut u64, value: u64) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        std::arch::asm!("str {value}, [{at}]", at = in(reg) at, value = in(reg) value, options(nostack, preserves_flags));
    };
}

/// Words that [`move_words`] copies.
pub(crate) const WORDS: usize = 8;

/// Copies eight words, each by one load and one store.
#[inline(always)]
pub(crate) fn move_words(to: &mut [u64; WORDS], from: &[u64; WORDS]) {
    // SAFETY: the offsets are inside the eight words of the references.
    unsafe {
        std::arch::asm!(
            ".irp o, 0, 8, 16, 24, 32, 40, 48, 56",
            "ldr {word}, [{from}, #\\o]",
            "str {word}, [{to}, #\\o]",
            ".endr",
            to = in(reg) to,
            from = in(reg) from,
            word = out(reg) _,
            options(nostack, preserves_flags),
        );
    }
}
