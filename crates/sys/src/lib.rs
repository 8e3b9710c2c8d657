//! All calls into the operating system and all instructions that require unsafe Rust.

#![warn(clippy::undocumented_unsafe_blocks)]

pub mod affinity;
pub mod cgroup;
pub mod clock;
pub mod counters;
mod error;
pub mod facts;
pub mod file;
pub mod futex;
pub mod kernel;
pub mod memory;
pub mod namespace;
pub mod poll;
pub mod process;
pub mod signal;
pub mod socket;
mod text;
pub mod timer;
pub mod topology;
mod translation;
pub mod usage;

pub use error::{Error, Result};
