//! Machines that should be equal: how much they differ, and which of them is an outlier.

mod result;
mod spread;

pub use result::{FleetSpread, OddNode, OddResult, ResultSpread};
pub use spread::spread;
