//! Kernels in plain Rust, for every architecture.

pub(super) mod stream;
