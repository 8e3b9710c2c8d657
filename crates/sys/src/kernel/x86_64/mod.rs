//! Kernels in the instruction sets of x86-64.

pub(super) mod access;
pub(super) mod stream;
