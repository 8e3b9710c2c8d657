//! Runs side by side: which results differ, by how much, and with what certainty.
//!
//! Rows are results that runs have in common. Each machine's result is compared with the baseline's. The ratio has an
//! interval, widened by the session noise between sessions, and a verdict adjusted over the whole report (Holm).
//! `docs/explain/intervals-and-verdicts.md` gives the reasons.
//!
//! Pure functions: no clock, no file, no hidden state. Findings are serialisable, so that every format prints the same
//! result.
#![forbid(unsafe_code)]

mod align;
mod assumed;
mod basis;
pub mod conditions;
mod elsewhere;
mod error;
pub mod experiment;
mod family;
pub mod fleet;
mod gate;
mod glob;
mod modes;
pub mod naming;
mod options;
mod power;
mod price;
mod priced;
mod printed;
pub mod quality;
mod rank;
mod ranked;
mod ratio_basis;
mod relation;
mod report;
mod result;
mod result_view;
mod self_test;
mod session;
mod shares;
mod shift;
mod shown_clock;
mod sort;
mod together;
mod verdict;

pub use align::differing_parameters;
pub use error::Error;
pub use glob::matches;
pub use model::GateAnswer;
pub use options::{CompareOptions, Normalise};
pub use power::{FoundShare, PlantedPower};
pub use price::PerPrice;
pub use printed::{Disagreement, PrintedCell};
pub use rank::Rank;
pub use ratio_basis::{ComparedClock, CoreRatio, FloorUsed, RatioBasis, RatioEnds};
pub use relation::Relation;
pub use report::{compare, compare_results};
pub use result::{
    AssumedSpread, CompareGate, CompareRow, Compared, Comparison, FailOn, GateResult, GeometricMean, Help, ModeRatio,
    NeededSamples, OtherRule, Ratio, RatioMethod, Unmatched, VerdictCounts,
};
pub use self_test::{EqualVerdicts, FALSE_ALARMS, FEWEST_PAIRS, SelfTest, self_test};
pub use session::{NEWEST_SESSIONS, SessionRecord, least_error, relation};
pub use shares::fisher_exact;
pub use shown_clock::{ShownClock, estimate_in_time, is_condition};
