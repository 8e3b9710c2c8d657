//! From runs to decisions, by pure functions: [`choose`] decides what to buy, [`trend`] extrapolates growth, and
//! [`scaling`](mod@scaling) says where more threads stop to help.
#![forbid(unsafe_code)]

pub mod choose;
pub mod scaling;
pub mod trend;

pub use scaling::scaling;
