//! The operating system for the harness: facts about the machine, counters of a process, starting and ending programs,
//! limits, network options.

#![warn(clippy::undocumented_unsafe_blocks)]

pub mod cgroup;
pub mod counters;
mod error;
pub mod facts;
pub mod file;
pub mod namespace;
pub mod process;
pub mod signal;
pub mod socket;
pub mod topology;
pub mod usage;

pub use error::{Error, Result};
