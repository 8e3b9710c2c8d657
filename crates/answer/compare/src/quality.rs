//! How good the data of a run are, why, and what to do about it, from what the run recorded of itself.

use model::{BenchmarkResult, Flag, Invalid, Outcome, RULES, Run, percent};
use serde::Serialize;

use crate::conditions::{DisturbanceKind, RunDisturbance, disturbances};

/// How good the data of a run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QualityLevel {
    /// No interference was seen, and nine results of ten reached their targets.
    Good,
    /// There was interference, or fewer results reached their targets, but at least half did.
    Fair,
    /// Fewer than half of the results with a value reached their targets.
    Poor,
    /// Another tool measured it, it is a farm, whose checks say whether it is good, or nothing has a value.
    Unknown,
}

impl QualityLevel {
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

/// How good the data of a run are, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quality {
    /// The level.
    pub level: QualityLevel,
    /// Why it is not better, the largest reason first. Each is a clause, such as `steal time was 4%`.
    pub reasons: Vec<String>,
    /// What to do about the first reason, in one sentence; empty without a reason.
    pub advice: String,
    /// Half the width, relative to the value, that nine results of ten do not exceed; absent where more than one in ten
    /// has no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// Results that reached their targets.
    pub within: usize,
    /// Results with a value or with modes.
    pub valued: usize,
}

/// A reason, with the advice that goes with it.
struct Reason {
    /// Share of the time or of the CPUs that it took, by which reasons are ordered.
    size: f64,
    says: String,
    advice: String,
}

/// Size of missed targets among the reasons: smaller disturbances do not explain them.
const MISSED: f64 = 0.05;

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

/// How good the data of a run are.
#[must_use]
pub fn quality(run: &Run) -> Quality {
    let requested = || run.results.iter().filter(|result| !result.is_condition());
    let valued = |result: &&BenchmarkResult| matches!(result.outcome, Outcome::Measured(_) | Outcome::Modes(_));
    // A number of samples that was asked for has no target to miss.
    let within = |result: &&BenchmarkResult| {
        let target = target(run, result);
        valued(result) && (target <= f64::MIN_POSITIVE || result.is_within(target, run.plan.level))
    };
    let (valued, within) = (requested().filter(valued).count(), requested().filter(within).count());
    let longer = if within < valued { format!(", or add {}", longer(run)) } else { String::new() };
    let mut reasons: Vec<Reason> = disturbances(run).iter().map(|one| reason(one, run, &longer)).collect();
    let disturbed = !reasons.is_empty();
    let short = (within as f64) < RULES.compare.good_run * valued as f64;
    reasons.extend(short.then(|| missed(run, valued - within, valued)));
    reasons.sort_by(|a, b| b.size.total_cmp(&a.size));
    let level = match () {
        () if run.origin.is_some() || run.session.farm.is_some() || valued == 0 => QualityLevel::Unknown,
        () if !short && !disturbed => QualityLevel::Good,
        () if within as f64 >= RULES.compare.fair_run * valued as f64 => QualityLevel::Fair,
        () => QualityLevel::Poor,
    };
    let advice = reasons.first().map(|first| first.advice.clone()).unwrap_or_default();
    let reasons = reasons.into_iter().map(|reason| reason.says).collect();
    Quality { level, reasons, advice, margin: margin(run), within, valued }
}

/// The option that gives a run more time than it had.
fn longer(run: &Run) -> String {
    let minutes = run.plan.time_limit.map_or(10.0, |limit| (3.0 * limit / 60.0).ceil().max(10.0));
    format!("--time-limit {minutes}m")
}

/// A disturbance as a reason; `longer` is what a longer run may do about wide intervals.
fn reason(one: &RunDisturbance, run: &Run, longer: &str) -> Reason {
    let amount = one.amount.unwrap_or(1.0);
    let (size, advice) = match one.kind {
        // The processor time of the other run is among that of other processes.
        DisturbanceKind::OtherRun => (1.0, "Run again when the other run has ended.".to_owned()),
        DisturbanceKind::Load => {
            let cpus = run.session.conditions.cpus.unwrap_or(1).max(1);
            ((amount / f64::from(cpus)).min(1.0), format!("Stop other processes and run again{longer}."))
        }
        DisturbanceKind::Steal => (amount, format!("Run again when the host is less busy{longer}.")),
        DisturbanceKind::Throttling => (amount, "Raise the quota and run again.".to_owned()),
        DisturbanceKind::CoreShared => (amount, format!("Run again when it is idle{longer}.")),
        DisturbanceKind::SharedCore => (0.0, format!("Run again when the machine is idle{longer}.")),
        DisturbanceKind::Clock => (amount, "Fix the CPU frequency if you can, and run again.".to_owned()),
        DisturbanceKind::Cpus => (0.0, "Allow all CPUs to measure the whole machine.".to_owned()),
    };
    Reason { size, says: one.says.clone(), advice }
}

/// Results that missed their targets, as a reason.
fn missed(run: &Run, missed: usize, valued: usize) -> Reason {
    let targets = || run.results.iter().filter(|result| !result.is_condition()).map(|result| target(run, result));
    let same = targets().all(|one| one.total_cmp(&run.plan.target).is_eq());
    let goal = if same { format!("±{}", percent(run.plan.target)) } else { "their targets".to_owned() };
    let why = if run.ended_by_limit() { " before the time limit" } else { "" };
    let says = format!("{missed} of {valued} results did not reach {goal}{why}");
    let advice = match run.interrupted() {
        true => "Continue the run with --resume.".to_owned(),
        false => format!("Run again on an idle machine, or with {}.", longer(run)),
    };
    Reason { size: MISSED, says, advice }
}

fn margin(run: &Run) -> Option<f64> {
    let width = |result: &BenchmarkResult| match &result.outcome {
        Outcome::Measured(estimate) if estimate.has_spread() && !estimate.is_range() => {
            Some(estimate.relative_half_width())
        }
        Outcome::Measured(_) | Outcome::Modes(_) => Some(f64::INFINITY),
        Outcome::Below { .. } | Outcome::NotMeasured(_) | Outcome::Failed(_) => None,
    };
    let mut widths: Vec<f64> = run.results.iter().filter(|result| !result.is_condition()).filter_map(width).collect();
    widths.sort_by(f64::total_cmp);
    let at = (RULES.compare.good_run * widths.len() as f64).ceil() as usize;
    widths.get(at.checked_sub(1)?).copied().filter(|width| width.is_finite())
}

/// A flag, and how many results have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FlagCount {
    /// The flag.
    pub flag: Flag,
    /// Results that have it.
    pub results: usize,
    /// All results that were requested.
    pub of: usize,
}

/// The flags of the results of a run, those of most results first. A missed target and modes are outcomes, and repeated
/// samples are counted by [`repeated`].
#[must_use]
pub fn flag_counts(run: &Run) -> Vec<FlagCount> {
    let requested: Vec<&BenchmarkResult> = run.results.iter().filter(|result| !result.is_condition()).collect();
    let mut counts: Vec<FlagCount> = Vec::new();
    for flag in requested.iter().flat_map(|result| &result.flags) {
        if matches!(flag, Flag::CannotConverge | Flag::Modes | Flag::Repeated) {
            continue;
        }
        match counts.iter_mut().find(|count| count.flag == *flag) {
            Some(count) => count.results += 1,
            None => counts.push(FlagCount { flag: *flag, results: 1, of: requested.len() }),
        }
    }
    counts.sort_by_key(|count| std::cmp::Reverse(count.results));
    counts
}

/// Why samples were repeated, and how many were for each reason, most first.
#[must_use]
pub fn repeated(run: &Run) -> Vec<(&'static str, usize)> {
    let mut reasons: Vec<(&'static str, usize)> = Vec::new();
    for invalid in run.results.iter().flat_map(|result| &result.samples).filter_map(|sample| sample.invalid.as_ref()) {
        let why = match invalid {
            Invalid::Suspended(_) => "the machine slept",
            Invalid::ClockJump(_) => "the system clock was set",
            Invalid::Stolen(_) => "steal time",
            Invalid::Throttled(_) => "a CPU quota stopped them",
            Invalid::Misplaced(_) => "they ran on other CPUs than planned",
            Invalid::SharedCore { .. } => "busy sibling hyperthread or clock change",
            Invalid::Moved { .. } => "the hypervisor moved the CPUs",
            Invalid::DeviceThrottled(_) => "the device lowered its clock",
            Invalid::HandedOver { .. } | Invalid::Preempted { .. } => "other processes took the CPU",
        };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((why, 1)),
        }
    }
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    reasons
}
