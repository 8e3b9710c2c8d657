//! Between machines: streams, round trips, event building, the laboratory that they are tried in, and the agents and
//! launchers that start them elsewhere.
#![forbid(unsafe_code)]

mod error;
pub mod lab;

pub use error::{Error, Result};
