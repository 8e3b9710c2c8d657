//! Machines that should be equal: how far they lie apart, and which of them is odd.

mod result;
mod spread;

pub use result::{FigureSpread, OddFigure, OddNode, Spread};
pub use spread::spread;
