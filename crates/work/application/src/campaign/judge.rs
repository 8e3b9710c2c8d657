//! Results that follow from several results: efficiency of copies, and memory too small to be seen.

use model::{BenchmarkResult, Estimate, EstimateMethod, Outcome, Run};

use super::Subject;
use super::document;
use crate::manifest::Application;

/// Relative error of the kernel's count of resident pages, which every CPU updates in batches.
const COUNT: f64 = 1.1;

/// For a program that needs no more memory than the helper that starts it, gives only that bound.
pub(crate) fn smallest_seen(result: &mut BenchmarkResult, hidden: f64) {
    let measured = matches!(result.outcome, Outcome::Measured(_) | Outcome::Modes(_));
    let most = result.values().into_iter().fold(0.0, f64::max);
    if measured && most <= COUNT * hidden {
        result.outcome = Outcome::Below { bound: most };
        result.flags.clear();
        let note = "upper bound: smaller than Prony's own launcher";
        if !result.notes.iter().any(|known| known == note) {
            result.notes.push(note.to_owned());
        }
    }
}

/// Adds the efficiency of a copy: the rate of n copies together over n times that of one alone.
pub(super) fn efficiencies(run: &mut Run, applications: &[Application], subjects: &[Subject]) {
    let estimate = |run: &Run, subject: &Subject| run.results[subject.results[0]].outcome.estimate().copied();
    for subject in subjects.iter().filter(|subject| subject.copies > 1) {
        let same = |other: &&Subject| {
            (other.application, other.build, other.copies) == (subject.application, subject.build, 1)
        };
        let Some(alone) = subjects.iter().find(same).and_then(|alone| estimate(run, alone)) else { continue };
        let Some(together) = estimate(run, subject) else { continue };
        let n = f64::from(subject.copies);
        // Level at which both intervals hold at the same time (Bonferroni).
        let level = (together.level + alone.level - 1.0).max(0.0);
        let efficiency = Estimate {
            value: together.value / (n * alone.value),
            low: together.low / (n * alone.high),
            high: together.high / (n * alone.low),
            level,
            samples: together.samples.min(alone.samples),
            batches: 1,
            method: EstimateMethod::Propagated.at(level),
        };
        let rate = run.results[subject.results[0]].clone();
        let application = &applications[subject.application];
        run.results.push(document::efficiency(application, &rate, Outcome::Measured(efficiency)));
    }
}
