//! What the harness needs of the operating system: facts about the machine, counters of what a process used, starting
//! and ending programs, limits, network options.

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
