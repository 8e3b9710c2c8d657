//! Every call into the operating system and every instruction that Rust cannot say safely.

pub mod affinity;
pub mod clock;
mod error;
pub mod kernel;
pub mod memory;
pub mod process;
pub mod signal;
mod text;
pub mod topology;
pub mod usage;

pub use error::{Error, Result};
