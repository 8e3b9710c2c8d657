//! Decides which batches, samples and rounds are usable. Only this module knows sensors, steal time, quotas and
//! placement of samples.
//!
//! A batch is **clean** if the sensors on both sides of it show an exclusive core with a steady clock, and the
//! scheduler did not preempt its thread. The duration of a batch is not considered before that is decided.

mod batch;
mod distance;
mod domain;
mod end;
mod flags;
mod free_core;
mod known;
mod learn;
mod sample;
mod sensitivity;
mod sensors;
mod taken;
mod timeline;

use model::RULES;

pub(crate) use self::batch::{BatchPlace, CleanRule};
pub(crate) use self::flags::flags;
pub(crate) use self::free_core::{Next, PAUSE, Start, Starts, is_moved};
pub(crate) use self::known::{from_issue, from_runs, from_table, issue_width};
pub(crate) use self::learn::{KnownRatio, RatioHistogram, learn, shared_throughout};
pub(crate) use self::sample::ResultClasses;
pub(crate) use self::sensors::Quality;
pub(crate) use self::taken::handed_over;
pub use self::taken::{may_exclude, stolen_too_much, throttled_too_much};
pub(crate) use self::timeline::shared_share;

/// Whether a sample has so few clean batches that it should end.
pub(crate) fn hopeless(clean: u32, made: u32) -> bool {
    let rules = &RULES.worker;
    (made >= rules.none_after && clean == 0) || (made >= rules.few_after && clean < rules.few)
}

#[cfg(test)]
mod recorded_tests;
#[cfg(test)]
mod replay_tests;
