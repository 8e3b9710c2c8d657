//! Results that follow from several figures: efficiency of copies, and memory too small to be seen.

use model::{Estimate, EstimateMethod, Figure, Outcome, Run};

use super::Subject;
use super::document;
use crate::manifest::Application;

/// Relative error of the kernel's count of resident pages, which every CPU updates in batches.
const COUNT: f64 = 1.05;

/// For a program that needs no more memory than the helper that starts it, gives only that bound.
pub(crate) fn smallest_seen(figure: &mut Figure, hidden: f64) {
    let measured = matches!(figure.outcome, Outcome::Measured(_) | Outcome::Modes(_));
    let most = figure.values().into_iter().fold(0.0, f64::max);
    if measured && most <= COUNT * hidden {
        figure.outcome = Outcome::Below { bound: most };
        figure.flags.clear();
        let note = "the helper that starts it is as large, and the kernel reports no less";
        if !figure.notes.iter().any(|known| known == note) {
            figure.notes.push(note.to_owned());
        }
    }
}

/// Adds the efficiency of a copy: the rate of n copies together over n times that of one alone.
pub(super) fn efficiencies(run: &mut Run, applications: &[Application], subjects: &[Subject]) {
    let estimate = |run: &Run, subject: &Subject| run.figures[subject.figures[0]].outcome.estimate().copied();
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
            launches: together.launches.min(alone.launches),
            batches: 1,
            method: EstimateMethod::Propagated.at(level),
        };
        let rate = run.figures[subject.figures[0]].clone();
        let application = &applications[subject.application];
        run.figures.push(document::efficiency(application, &rate, Outcome::Measured(efficiency)));
    }
}
