//! What the clock reference and the contention reference say of batches, launches, figures and runs: pure functions on recorded
//! numbers.
//!
//! A batch is **undisturbed** when the readings on both sides of it say that the core was unshared and its clock steady, and the
//! scheduler left its thread alone. Nothing here looks at how long a batch took before that is decided.

mod classify;
mod domain;
mod known;
mod learn;
mod sensitivity;
mod timeline;
mod weigh;

pub(crate) use self::classify::{BatchPlace, UndisturbedRule};
pub(crate) use self::known::{from_runs, from_table};
pub(crate) use self::learn::{KnownRatio, RatioHistogram, learn};
pub(crate) use self::timeline::{conclude, median_clock};
pub(crate) use self::weigh::{batch_values, conclude_figure, kept_nanos, null_difference, weigh};

/// Undisturbed batches (of a difference: pairs) after which a launch has enough.
pub(crate) const ENOUGH: u32 = 20;
/// Batches of a launch at most, however few of them are undisturbed.
pub(crate) const MOST: u32 = 100;
/// Batches of a launch whose readings say nothing yet, because the unshared core is unknown.
pub(crate) const UNKNOWN: u32 = 40;
/// Undisturbed batches (of a difference: pairs) below which a launch is excluded.
pub(crate) const FEWEST: u32 = 8;
/// Batches after which a launch that has hardly an undisturbed one ends: a neighbour stays.
const HOPELESS_AFTER: u32 = 40;
/// Undisturbed batches that are hardly any.
const HOPELESS: u32 = 3;
/// Longest batch that is filtered, nanoseconds. The chance of an undisturbed batch falls with its length, so that filtering long ones
/// would choose quiet minutes for long operations only.
pub(crate) const LONGEST_NANOS: u64 = 1_000_000;
/// Most parties on CPUs of their own whose batches are filtered.
pub(crate) const MOST_PARTIES: usize = 4;

/// Whether a launch with so few undisturbed batches after so many can as well end.
pub(crate) const fn hopeless(undisturbed: u32, batches: u32) -> bool {
    batches >= HOPELESS_AFTER && undisturbed < HOPELESS
}

#[cfg(test)]
mod replay_tests;
