//! From runs to findings, purely: runs in, findings out, no clock, no file, no hidden state.
//!
//! [`compare()`] says which figures of several runs differ, by how much and how surely; [`explain()`] says why two of them
//! do; [`predict`] says how fast an application would be elsewhere, [`choose`] what to buy and [`trend`] what will be on the
//! market. The words of a finding are serialisable, so that every
//! format prints the same answer.
#![forbid(unsafe_code)]

pub mod choose;
pub mod compare;
pub mod conditions;
mod error;
pub mod explain;
pub mod fleet;
pub mod naming;
pub mod plan_network;
pub mod predict;
mod shown_clock;
pub mod trend;
mod words;

pub use compare::{CompareOptions, Comparison, compare};
pub use error::Error;
pub use explain::{Explanation, explain};
pub use shown_clock::ShownClock;
