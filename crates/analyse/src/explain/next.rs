//! The measurement whose outcome the surviving hypotheses predict most differently.

use model::Primitive;

use super::result::{Cause, DifferenceKind, Experiment, Unmeasured};
use super::rules::{RULES, Rule, probe_of};

/// Most probes that are proposed at once.
const MOST: usize = 4;

/// What to measure next; `None` when nothing differs.
pub(crate) fn next_experiment(causes: &[Cause], unmeasured: &[Unmeasured]) -> Option<Experiment> {
    if let Some(group) = unmeasured.first() {
        return Some(for_unmeasured(group));
    }
    let cause = causes.first()?;
    let rivals: Vec<&Rule> = RULES
        .iter()
        .filter(|rule| cause.primitives.iter().any(|&primitive| rule.touches(primitive)))
        .filter(|rule| cause.because.iter().any(|d| rule.names(d.kind, &d.name)))
        .collect();
    Some(match rivals.as_slice() {
        [] => without_a_fact(cause),
        [one] => confirm(one, cause),
        [first, second, ..] => between(first, second, cause),
    })
}

fn for_unmeasured(group: &Unmeasured) -> Experiment {
    let mut probes: Vec<String> = Vec::new();
    for &primitive in &group.candidates {
        let probe = probe_of(primitive).to_owned();
        if !probes.contains(&probe) && probes.len() < MOST {
            probes.push(probe);
        }
    }
    let named: Vec<String> = group.candidates.iter().take(MOST).map(|primitive| primitive.title().to_owned()).collect();
    let files = group.candidates.contains(&Primitive::FileMetadata);
    let mounts = if files { "; compare the mount options" } else { "" };
    let link = if group.candidates.contains(&Primitive::DynamicLink) {
        "; then exec a static against a dynamic program"
    } else {
        ""
    };
    Experiment {
        probes,
        why: format!("the tests use {}, which no figure here measures{mounts}{link}", crate::words::list(&named)),
    }
}

fn without_a_fact(cause: &Cause) -> Experiment {
    let mut probes: Vec<String> = Vec::new();
    for probe in cause.primitives.iter().map(|&primitive| probe_of(primitive).to_owned()) {
        if !probes.contains(&probe) && probes.len() < MOST {
            probes.push(probe);
        }
    }
    Experiment { probes, why: format!("no recorded fact that differs touches {}", cause.title) }
}

fn confirm(rule: &Rule, cause: &Cause) -> Experiment {
    let axis = cause.because.iter().find(|d| d.kind == DifferenceKind::Axis);
    let why = axis.map_or_else(
        || format!("change {} alone and measure again: if it is the cause, the excess goes", rule.title),
        |axis| format!("measure both runs at {}={} and {}={}", axis.name, axis.a, axis.name, axis.b),
    );
    Experiment { probes: vec![rule.shown_by.to_owned()], why }
}

fn between(first: &Rule, second: &Rule, cause: &Cause) -> Experiment {
    let only_first: Vec<&Primitive> =
        Primitive::ALL.iter().filter(|p| first.touches(**p) && !second.touches(**p)).collect();
    let telling = only_first.iter().find(|p| !cause.primitives.contains(p)).or(only_first.first());
    let mut probes = vec![telling.map_or(first.shown_by, |p| probe_of(**p)).to_owned()];
    if !probes.contains(&second.shown_by.to_owned()) {
        probes.push(second.shown_by.to_owned());
    }
    Experiment {
        probes,
        why: format!("both {} and {} differ and would do it; these figures tell them apart", first.title, second.title),
    }
}
