//! Kernels in the instruction sets of x86-64.

pub(super) mod access;
mod amx;
mod arithmetic;
pub(super) mod branch;
pub(super) mod clock_sensor;
pub(super) mod contention_sensor;
mod counted;
mod crypto;
pub(super) mod issue_sensor;
mod operation;
mod peak;
mod sha256;
pub(super) mod stream;

pub(super) static LOOPS: [&[super::counted_loop::CountedLoop]; 5] =
    [&amx::LOOPS, &arithmetic::LOOPS, &operation::LOOPS, &peak::LOOPS, &crypto::LOOPS];
