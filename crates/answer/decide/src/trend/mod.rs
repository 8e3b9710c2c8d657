//! Exponential growth of dated ratings, and its extrapolation with honest intervals.
//!
//! It fits the median and the frontier (the running record). Each has a doubling time, an interval for one new value, a
//! test for a break, and a flag for dates farther from the data than a third of their span. A line fitted to 1990-1998
//! of SPECint was five to seven times too high for 2008: the interval of a fit that breaks is worthless, hence the
//! prominent flag. `docs/guide/history.md` has details.

mod error;
mod fit;
mod parse;
mod result;
mod sentences;

pub use error::Error;
pub use fit::{TrendOptions, trend};
pub use parse::parse;
pub use result::{Broken, Checked, Dated, FanPoint, FittedTrend, GrowthTrend, Projection, TrendCurve};
