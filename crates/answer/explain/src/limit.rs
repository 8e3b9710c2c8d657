//! A limit on CPU time that differs between the runs: which tests it can slow down, and by how much.

use compare::conditions::{DisturbanceKind, disturbances};
use model::Run;

use super::result::{DifferenceKind, RunDifference};
use super::rules::CPU_LIMIT_FACT;

/// Slowdowns beyond the limit's factor that are still attributed to it, since a quota is granted in slices.
const SLACK: f64 = 1.25;

/// A limit on CPU time that differs.
pub(crate) struct LimitEvidence {
    pub(crate) because: RunDifference,
    /// Logarithm of the time ratio B over A of a thread that never waits, by the limits.
    most: f64,
    /// Whether the run with the lower limit recorded that it was throttled.
    pub(crate) seen: bool,
}

impl LimitEvidence {
    /// Whether it can cause this difference of times, given as a logarithm.
    pub(crate) fn explains(&self, log: f64) -> bool {
        log * self.most > 0.0 && log.abs() <= self.most.abs() + SLACK.ln()
    }
}

/// The limits, if both runs recorded one, they differ, and one is below the CPU time that a single thread can use. If
/// both runs watched for throttling and saw none, no limit was effective.
pub(crate) fn limit_evidence(a: &Run, b: &Run, differences: &[RunDifference]) -> Option<LimitEvidence> {
    let because = differences.iter().find(|d| d.kind == DifferenceKind::Fact && d.name == CPU_LIMIT_FACT)?.clone();
    let cpus = |text: &str| match text {
        "none" => Some(1.0),
        number => number.parse::<f64>().ok().filter(|cpus| *cpus > 0.0).map(|cpus| cpus.min(1.0)),
    };
    let most = (cpus(&because.a)? / cpus(&because.b)?).ln();
    let watched = |run: &Run| run.session.conditions.throttled.is_some_and(|taken| taken.share().is_some());
    let stopped = |run: &Run| disturbances(run).iter().any(|one| one.kind == DisturbanceKind::Throttling);
    let idle = watched(a) && watched(b) && !stopped(a) && !stopped(b);
    let seen = if most > 0.0 { stopped(b) } else { stopped(a) };
    (most != 0.0 && !idle).then_some(LimitEvidence { because, most, seen })
}
