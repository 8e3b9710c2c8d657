//! From runs to findings, purely: runs in, findings out, no clock, no file, no hidden state.
//!
//! [`compare()`] says which figures of several runs differ, by how much and how surely; [`explain()`] says why two of them
//! do. The words of a finding are serialisable, so that every format prints the same answer.
#![forbid(unsafe_code)]

pub mod compare;
mod error;
pub mod explain;

pub use compare::{Comparison, Options, compare};
pub use error::Error;
pub use explain::{Explanation, explain};
