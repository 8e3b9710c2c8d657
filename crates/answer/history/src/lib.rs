//! What changed on one machine, since when, and what changed with it.
//!
//! The runs of a machine become one series for each metric and one for each family of metrics. Change points are found
//! as runs arrive ([`history`]), with at most one false alarm in a year of nightly runs of 80 metrics. A ledger of
//! recorded facts says what else changed between the same two runs. Coincidence is no proof, and no sentence says so.
//!
//! Pure functions: no clock, no file, no hidden state.
#![forbid(unsafe_code)]

mod change;
mod event;
mod ledger;
mod metrics;
mod result;
mod shape;

pub use ledger::LedgerEntry;
pub use metrics::{history, history_of};
pub use result::{Event, History, HistoryRun, Member, MetricHistory, MetricPoint};
pub use shape::Shape;
