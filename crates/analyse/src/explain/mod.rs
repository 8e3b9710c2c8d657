//! Why do two machines, or two runs of one, differ?
//!
//! Arithmetic that a reader can check, not a fitted model: the common factor of everything in user mode, what is left of
//! each primitive, the excess in seconds per operation, which excess pays for which test, what a mixture can at most be
//! slowed down by, and which recorded facts would bring it about. `METHODOLOGY.md`, "Explaining", says why.

mod bound;
mod budget;
mod cause;
mod clock;
mod common;
mod evidence;
mod facts;
mod footprint;
mod group;
mod level;
mod limit;
mod matching;
mod next;
mod residual;
mod result;
mod rules;
mod scope;
mod sentences;
mod shared;
mod shares;
mod stall;
mod steps;
mod stream_line;
mod test;
mod text;

pub use result::{
    Cause, CommonFactor, DifferenceKind, Experiment, Explanation, LeftOpen, NotRuledOut, Payment, PrimitiveResidual,
    Rival, RuledOut, RunDifference, Unmeasured, WouldNeed,
};
pub use steps::{ExplainOptions, explain};
pub use stream_line::StreamLine;

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, which Clippy does not recognise as such"
)]
mod planted;
