//! From runs to findings, by pure functions: no clock, no file, no hidden state.
//!
//! [`compare()`] tells which figures of several runs differ, by how much and with what certainty; [`explain()`] tells
//! why two of them differ; [`choose`] decides what to buy, and [`trend`] extrapolates growth. Findings are
//! serialisable, so that every format prints the same result.
#![forbid(unsafe_code)]

pub mod choose;
pub mod compare;
pub mod conditions;
mod error;
pub mod explain;
pub mod fleet;
pub mod naming;
pub mod plan_network;
pub mod scaling;
mod shown_clock;
pub mod standing;
pub mod trend;
pub mod trust;

pub use compare::{CompareOptions, Comparison, compare};
pub use error::Error;
pub use explain::{Explanation, explain};
pub use scaling::scaling;
pub use shown_clock::{ShownClock, estimate_in_time};
