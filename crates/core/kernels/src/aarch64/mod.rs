//! Kernels in the instruction set of 64-bit Arm.

pub(super) mod access;
pub(super) mod branch;
pub(super) mod clock_reference;
pub(super) mod contention_reference;
pub(super) mod stream;
