//! The timed code and its parts: the hot loops, their memory, the system calls and processes that results count, and
//! the clock. It should not change: tests compare it with its machine code.
//!
//! Each loop declares its cost next to it, and tests verify results and disassembly. No loop allocates or reads a
//! clock. A kernel has a portable form and, if the architecture offers better ones, forms chosen at run time among
//! those that this CPU supports.

#![warn(clippy::undocumented_unsafe_blocks)]

pub mod affinity;
pub mod arithmetic;
mod bits;
pub mod branch;
pub mod clock;
pub mod copy;
pub mod core_sensor;
pub mod counted;
mod counted_loop;
pub mod cpuid;
mod declared;
pub mod dhrystone;
pub mod emulation;
mod error;
pub mod file;
pub mod futex;
pub mod handoff;
pub mod hanoi;
pub mod memory;
mod operation;
#[cfg(target_arch = "x86_64")]
mod peak;
pub mod poll;
pub mod process;
#[cfg(target_arch = "x86_64")]
mod reference;
pub mod ring;
mod route;
#[cfg(target_arch = "x86_64")]
mod sha256;
pub mod signal;
pub mod stream;
mod stream_variant;
pub mod text;
pub mod timer;
pub mod transfer;
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
pub use error::{Error, Result};
