//! Why two machines, or two runs of one, differ.
//!
//! The explanation is arithmetic that a reader can check, not a fitted model. It consists of the common factor of all
//! work in user mode, the residual of each primitive, the excess in seconds per operation, which excess explains which
//! test, the largest slowdown of a mixture, and which recorded facts would cause it.
//! `docs/explain/how-explanations-reason.md` gives the reasons.
#![forbid(unsafe_code)]

mod bound;
mod budget;
mod cause;
mod clock;
mod common;
mod cpu;
mod decided;
mod details;
mod evidence;
mod facts;
mod follows;
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

pub use compare::Error;
pub use result::{
    Cause, CommonFactor, Decided, DifferenceKind, Experiment, Explanation, LeftOpen, NotRuledOut, Payment,
    PrimitiveResidual, ResultName, Rival, RuledOut, RunDifference, SlowestMeasured, Unmeasured, WouldNeed,
};
pub use rules::{KnownCause, known_causes};
pub use steps::{ExplainOptions, explain};
pub use stream_line::StreamLine;

#[cfg(test)]
mod consistent;
#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, which Clippy does not recognise as such"
)]
mod planted;
