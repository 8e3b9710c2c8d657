//! Machines that should be equal: how much they differ, and which of them is an outlier.

mod result;
mod spread;

pub use result::{FleetSpread, OutlierNode, OutlierResult, ResultSpread};
pub use spread::spread;
