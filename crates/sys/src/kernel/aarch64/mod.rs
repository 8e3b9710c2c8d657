//! Kernels in the instruction set of 64-bit Arm.

pub(super) mod access;
