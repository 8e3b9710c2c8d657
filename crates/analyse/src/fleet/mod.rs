//! Machines that should be equal: how far they lie apart, and which of them is odd.

mod result;
mod spread;

pub use result::{FigureSpread, FleetSpread, OddFigure, OddNode};
pub use spread::spread;
