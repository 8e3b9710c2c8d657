//! Every call into the operating system and every instruction that Rust cannot say safely.

pub mod kernel;
