//! What will be on the market? Exponential growth of dated ratings, with the honesty that extrapolation needs.
//!
//! The median and the frontier (the running record) are fitted; each has a doubling time, an interval for one new value,
//! a test for a break, and a flag where a date lies further from the data than a third of their span. A line
//! fitted to 1990-1998 of SPECint was five to seven times too high for 2008: the interval of a fit that broke is worth
//! nothing, and that is why the flag is loud. `docs/trend.md` says more.

mod error;
mod fit;
mod parse;
mod result;
mod sentences;

pub use error::Error;
pub use fit::{TrendOptions, trend};
pub use parse::parse;
pub use result::{Broken, Checked, Dated, FanPoint, FittedTrend, GrowthTrend, Projection, TrendCurve};
