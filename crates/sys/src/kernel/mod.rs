//! The hot loops: their costs are declared beside them, and tests verify results and disassembly.
//!
//! No loop allocates or reads a clock. A kernel has a portable form and, if the architecture offers better ones, forms
//! chosen at run time among those that this CPU supports.

pub mod arithmetic;
mod bits;
pub mod branch;
pub mod copy;
pub mod core_reference;
pub mod counted;
mod counted_loop;
mod declared;
pub mod dhrystone;
pub mod handoff;
pub mod hanoi;
mod operation;
#[cfg(target_arch = "x86_64")]
mod peak;
#[cfg(target_arch = "x86_64")]
mod reference;
pub mod ring;
mod route;
#[cfg(target_arch = "x86_64")]
mod sha256;
pub mod stream;
mod stream_variant;
pub mod whetstone;

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as native;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use portable as native;
#[cfg(target_arch = "x86_64")]
use x86_64 as native;

pub use declared::LoopCost;
