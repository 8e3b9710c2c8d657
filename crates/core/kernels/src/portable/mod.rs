//! Kernels in plain Rust, for every architecture.

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) mod access;
pub(super) mod bits;
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) mod branch;
pub(super) mod stream;
