//! Data quality of a run, from its own records.

use model::{BenchmarkResult, Flag, Invalid, Outcome, RULES, Run};
use serde::Serialize;

use crate::conditions::{RunDisturbance, disturbances};

/// How far a run may be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustLevel {
    /// Nothing disturbed it, as far as the machine can tell, and nine results of ten reached their targets.
    Good,
    /// Something disturbed it, or fewer reached their targets, but at least half did.
    Fair,
    /// Fewer than half of the results with a value reached their targets.
    Poor,
    /// Another tool measured it, or nothing has a value.
    Unknown,
}

impl TrustLevel {
    /// The level in one word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
            Self::Unknown => "not known",
        }
    }
}

/// How far a run may be trusted, and the evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trust {
    /// The level.
    pub level: TrustLevel,
    /// What disturbed the run.
    pub disturbances: Vec<RunDisturbance>,
    /// Results that reached their targets.
    pub within: usize,
    /// Results with a value or with modes.
    pub valued: usize,
}

impl Trust {
    /// Whether fewer results reached their targets than a good run has.
    #[must_use]
    pub fn is_short_of_targets(&self) -> bool {
        (self.within as f64) < RULES.compare.good_run * self.valued as f64
    }
}

/// The half-width that a result was to reach, relative to its value.
#[must_use]
pub fn target(run: &Run, result: &BenchmarkResult) -> f64 {
    let entry = run
        .plan
        .entries
        .iter()
        .find(|entry| entry.benchmark == result.benchmark && entry.parameters == result.parameters);
    entry.map_or(run.plan.target, |entry| entry.target)
}

/// How far a run may be trusted.
#[must_use]
pub fn trust(run: &Run) -> Trust {
    let requested = || run.results.iter().filter(|result| !result.is_condition());
    let valued = |result: &&BenchmarkResult| matches!(result.outcome, Outcome::Measured(_) | Outcome::Modes(_));
    let within = |result: &&BenchmarkResult| result.is_within(target(run, result), run.plan.level);
    let (valued, within) = (requested().filter(valued).count(), requested().filter(within).count());
    let disturbances = disturbances(run);
    let mut trust = Trust { level: TrustLevel::Unknown, disturbances, within, valued };
    if run.origin.is_none() && valued > 0 {
        trust.level = match () {
            () if !trust.is_short_of_targets() && trust.disturbances.is_empty() => TrustLevel::Good,
            () if within as f64 >= RULES.compare.fair_run * valued as f64 => TrustLevel::Fair,
            () => TrustLevel::Poor,
        };
    }
    trust
}

/// Something that casts doubt on results, and on how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Doubt {
    /// The flag.
    pub flag: Flag,
    /// Results that have it.
    pub results: usize,
    /// All results that were requested.
    pub of: usize,
}

/// The doubts about the results of a run, those about most results first. A missed target and modes are outcomes, and
/// repeated samples are counted by [`repeated`].
#[must_use]
pub fn doubts(run: &Run) -> Vec<Doubt> {
    let requested: Vec<&BenchmarkResult> = run.results.iter().filter(|result| !result.is_condition()).collect();
    let mut doubts: Vec<Doubt> = Vec::new();
    for flag in requested.iter().flat_map(|result| &result.flags) {
        if matches!(flag, Flag::CannotConverge | Flag::Modes | Flag::Repeated) {
            continue;
        }
        match doubts.iter_mut().find(|doubt| doubt.flag == *flag) {
            Some(doubt) => doubt.results += 1,
            None => doubts.push(Doubt { flag: *flag, results: 1, of: requested.len() }),
        }
    }
    doubts.sort_by_key(|doubt| std::cmp::Reverse(doubt.results));
    doubts
}

/// Why samples were repeated, and how many were for each reason, most first.
#[must_use]
pub fn repeated(run: &Run) -> Vec<(&'static str, usize)> {
    let mut reasons: Vec<(&'static str, usize)> = Vec::new();
    for invalid in run.results.iter().flat_map(|result| &result.samples).filter_map(|sample| sample.invalid.as_ref()) {
        let why = match invalid {
            Invalid::Suspended(_) => "the machine slept",
            Invalid::ClockJump(_) => "the clock was set",
            Invalid::Stolen(_) => "the hypervisor took CPU time",
            Invalid::Throttled(_) => "a quota stopped them",
            Invalid::Misplaced(_) => "they ran on other CPUs than planned",
            Invalid::SharedCore { .. } => "the core was shared, or its clock moved",
            Invalid::Moved { .. } => "the host had moved their CPUs",
            Invalid::HandedOver { .. } | Invalid::Preempted { .. } => "other programs took the CPU",
        };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((why, 1)),
        }
    }
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    reasons
}
