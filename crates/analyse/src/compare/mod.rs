//! Runs side by side: which figures differ, by how much, and with what certainty.
//!
//! Rows are figures that runs have in common. Each machine's figure is compared with the reference's: a ratio with its
//! interval, widened by the session floor between sessions, and a verdict adjusted over the whole report (Holm).
//! `METHODOLOGY.md`, "Comparing", gives the reasons.

mod align;
mod assumed;
mod basis;
mod elsewhere;
mod family;
mod figure_view;
mod gate;
mod glob;
mod modes;
mod options;
mod power;
mod price;
mod priced;
mod printed;
mod rank;
mod ranked;
mod ratio_basis;
mod report;
mod result;
mod self_test;
mod session;
mod shares;
mod shift;
mod sort;
mod together;
mod verdict;

pub(crate) use align::differing_axes;
pub use glob::matches;
pub use options::{CompareOptions, Normalise};
pub use power::{FoundShare, PlantedPower};
pub use price::PerPrice;
pub use printed::{Disagreement, PrintedCell};
pub use rank::Rank;
pub use ratio_basis::{CompareVerdict, ComparedClock, CoreRatio, FloorUsed, RatioBasis, RatioEnds};
pub use report::compare;
pub(crate) use report::compare_figures;
pub use result::{
    AssumedSpread, CompareGate, CompareRow, Compared, Comparison, FailOn, GainDirection, GateAnswer, GateFigure,
    GeometricMean, ModeRatio, NeededLaunches, Ratio, RatioMethod, Relation, Unmatched, VerdictCounts,
};
pub use self_test::{EqualVerdicts, FEWEST_PAIRS, SelfTest, self_test};
pub use session::{NEWEST_SESSIONS, SessionRecord, least_error, relation};
pub use shares::fisher_exact;
