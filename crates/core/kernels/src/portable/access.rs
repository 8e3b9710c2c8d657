//! One load and one store that the compiler can neither move, merge nor widen.

/// # Safety
/// `at` must be readable and aligned.
#[inline(always)]
pub(crate) unsafe fn load(at: *const u64) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe { at.read_volatile() }
}

/// Loads the address stored at an address.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
pub(crate) unsafe fn follow(at: *const u64) -> *const u64 {
    // SAFETY: guaranteed by the caller.
    std::ptr::with_exposed_provenance(unsafe { load(at) } as usize)
}

/// # Safety
/// `at` must be writable and aligned.
#[inline(always)]
pub(crate) unsafe fn store(at: *mut u64, value: u64) {
    // SAFETY: guaranteed by the caller.
    unsafe { at.write_volatile(value) }
}

/// Words that [`move_words`] copies.
pub(crate) const WORDS: usize = 8;

/// Copies eight words, each by one load and one store.
#[inline(always)]
pub(crate) fn move_words(to: &mut [u64; WORDS], from: &[u64; WORDS]) {
    for (to, from) in to.iter_mut().zip(from) {
        // SAFETY: both are references.
        unsafe { store(to, load(from)) };
    }
}
