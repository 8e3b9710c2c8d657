//! Kernels in the instruction set of 64-bit Arm.

pub(super) mod access;
pub(super) mod branch;
pub(super) mod clock_sensor;
pub(super) mod contention_sensor;
pub(super) mod stream;
