//! Histories against known truth: simulated and recorded nights without a change, and planted changes with decoys.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod alarms;
mod blame;
mod nights;
mod planted;
mod public;
