//! Evaluation of the clock reference and the contention reference for batches, launches, figures and runs: pure
//! functions of recorded numbers.
//!
//! A batch is **undisturbed** if the readings on both sides of it show an unshared core with a steady clock, and the
//! scheduler did not preempt its thread. The duration of a batch is not considered before that is decided.

mod classify;
mod distance;
mod domain;
mod end;
mod known;
mod learn;
mod sensitivity;
mod timeline;
mod weigh;

pub(crate) use self::classify::{BatchPlace, UndisturbedRule, is_unshared};
pub(crate) use self::distance::DistanceReadings;
pub(crate) use self::end::conclude_figure;
pub(crate) use self::known::{from_issue, from_runs, from_table, issue_width};
pub(crate) use self::learn::{KnownRatio, RatioHistogram, learn, shared_throughout};
pub(crate) use self::timeline::{conclude, median_clock, shared_share};
pub(crate) use self::weigh::{batch_values, kept_nanos, null_difference, weigh};

/// Undisturbed batches (of a difference: pairs) after which a launch has enough.
pub(crate) const ENOUGH: u32 = 20;
/// The same of core figures: what is left of their error is what processes differ by, 1 to 3%, beside which the median
/// of a dozen batches is exact.
pub(crate) const ENOUGH_OF_CORE: u32 = 12;
/// Most batches of a launch, however few of them are undisturbed.
pub(crate) const MOST: u32 = 100;
/// Batches of a launch while the unshared core is unknown and the readings cannot be evaluated.
pub(crate) const UNKNOWN: u32 = 40;
/// Undisturbed batches (of a difference: pairs) below which a launch is excluded.
pub(crate) const FEWEST: u32 = 8;
/// Batches (of a difference: pairs) after which a launch without an undisturbed one ends, and after which one with
/// hardly any, because the core stays shared. Of 2,538 launches that counted, on a guest whose core was shared for 38%
/// of the time, 55 had none among the first twelve; of 794 that did not, 783.
const NONE_AFTER: u32 = 12;
const HOPELESS_AFTER: u32 = 40;
/// Number of undisturbed batches that counts as hardly any.
const HOPELESS: u32 = 3;
/// Longest batch that is filtered, nanoseconds. The probability of an undisturbed batch decreases with its length, so
/// that filtering long ones would select quiet minutes for long operations only. Neighbours stay for a tenth of a
/// second and more: against that, 3 ms are as short as 0.3 (half of the batches were undisturbed with either, at one
/// share).
pub(crate) const LONGEST_NANOS: u64 = 3_000_000;
/// Most parties on separate CPUs whose batches are filtered.
pub(crate) const MOST_PARTIES: usize = 4;

/// Whether a launch has so few undisturbed batches that it should end.
pub(crate) const fn hopeless(undisturbed: u32, made: u32) -> bool {
    (made >= NONE_AFTER && undisturbed == 0) || (made >= HOPELESS_AFTER && undisturbed < HOPELESS)
}

#[cfg(test)]
mod recorded_tests;
#[cfg(test)]
mod replay_tests;
