//! What follows from the figures of builds: what copies make of each other, and what could not be seen.

use model::{Estimate, EstimateMethod, Outcome, Run};

use super::Subject;
use super::document;
use crate::manifest::Application;

/// How far the kernel's count of resident pages may be off: every CPU adds its share in batches.
const COUNT: f64 = 1.05;

/// Says of programs that need no more memory than what starts them only that.
pub(super) fn hidden_memory(run: &mut Run, subjects: &[Subject], hidden: f64) {
    for subject in subjects {
        let figure = &mut run.figures[subject.figures[1]];
        let measured = matches!(figure.outcome, Outcome::Measured(_) | Outcome::Modes(_));
        let most = figure.values().into_iter().fold(0.0, f64::max);
        if measured && most <= COUNT * hidden {
            figure.outcome = Outcome::Below { bound: most };
            figure.flags.clear();
            figure.notes.push("the program that starts it is as large, and the kernel tells no less".to_owned());
        }
    }
}

/// Adds the efficiency of a copy: what n copies do together over n times what one does alone.
pub(super) fn efficiencies(run: &mut Run, applications: &[Application], subjects: &[Subject]) {
    let estimate = |run: &Run, subject: &Subject| run.figures[subject.figures[0]].outcome.estimate().copied();
    for subject in subjects.iter().filter(|subject| subject.copies > 1) {
        let same = |other: &&Subject| {
            (other.application, other.build, other.copies) == (subject.application, subject.build, 1)
        };
        let Some(alone) = subjects.iter().find(same).and_then(|alone| estimate(run, alone)) else { continue };
        let Some(together) = estimate(run, subject) else { continue };
        let n = f64::from(subject.copies);
        let efficiency = Estimate {
            value: together.value / (n * alone.value),
            low: together.low / (n * alone.high),
            high: together.high / (n * alone.low),
            // Both intervals hold at once at least so often (Bonferroni).
            level: (together.level + alone.level - 1.0).max(0.0),
            launches: together.launches.min(alone.launches),
            batches: 1,
            method: EstimateMethod::Propagated,
        };
        let rate = run.figures[subject.figures[0]].clone();
        let application = &applications[subject.application];
        run.figures.push(document::efficiency(application, &rate, Outcome::Measured(efficiency)));
    }
}
