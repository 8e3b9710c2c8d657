//! Runs side by side: which figures differ, by how much, and with what certainty.
//!
//! Rows are figures that runs have in common. Each machine's figure is compared with the reference's: a ratio with its
//! interval, widened by the session floor between sessions, and a verdict adjusted over the whole report (Holm).
//! `METHODOLOGY.md`, "Comparing", gives the reasons.

mod align;
mod assumed;
mod family;
mod gate;
mod glob;
mod modes;
mod options;
mod printed;
mod rank;
mod report;
mod result;
mod self_test;
mod session;
mod shares;
mod shift;
mod sort;
mod verdict;

pub(crate) use align::differing_axes;
pub use glob::matches;
pub use options::{CompareOptions, Normalise};
pub use printed::{Disagreement, PrintedCell};
pub use report::compare;
pub(crate) use report::compare_figures;
pub use result::{
    AssumedSpread, CompareGate, CompareRow, CompareVerdict, Compared, Comparison, FailOn, FloorUsed, GainDirection,
    GateAnswer, GateFigure, GeometricMean, ModeRatio, NeededLaunches, Rank, Ratio, RatioMethod, Relation, Unmatched,
    VerdictCounts,
};
pub use self_test::{SelfTest, self_test};
pub use session::{NEWEST_SESSIONS, SessionRecord, relation};
pub use shares::fisher_exact;
