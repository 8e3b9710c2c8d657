//! The measurement whose result the remaining hypotheses predict most differently.

use model::{Catalogue, Primitive};

use super::result::{Cause, DifferenceKind, Experiment, Explanation, Rival, UNTOLD, Unmeasured};
use super::rules::{CPU_LIMIT, DISTURBED, NEIGHBOUR, RULES, Rule, benchmark_of};

/// What separates interference from everything else.
const CLEAN: &str = "repeat both runs on an idle machine; differences due to interference vanish, real ones stay";

/// Benchmarks that are proposed at once, at most.
const MOST: usize = 4;

/// The next measurement; `None` when nothing differs.
pub(crate) fn next_experiment(found: &Explanation, catalogue: &Catalogue) -> Option<Experiment> {
    if let Some(group) = found.unmeasured.first() {
        return Some(for_unmeasured(group, catalogue));
    }
    let Some(cause) = found.causes.first() else {
        let factor = &found.common_factor;
        if let Some(open) = found.left_open.iter().find(|open| open.why == UNTOLD) {
            let benchmarks = vec![open.test.benchmark.clone()];
            return Some(Experiment { benchmarks, why: CLEAN.to_owned() });
        }
        let unknown = (factor.value - 1.0).abs() > f64::EPSILON && !factor.is_clock;
        return unknown.then(|| of_the_common_factor(&factor.rivals, factor.clock_seen, catalogue));
    };
    let known = cause.known_as.as_ref().and_then(|title| RULES.iter().find(|rule| rule.title == *title));
    // A parameter without a rule is a choice of who measured, and needs no confirmation.
    let chosen = cause.because.iter().any(|d| d.kind == DifferenceKind::Parameter);
    between_rivals(&cause.rivals, cause, catalogue).or_else(|| match known {
        Some(rule) => Some(confirm(rule, cause, catalogue)),
        None => (!chosen).then(|| without_a_fact(cause, catalogue)),
    })
}

/// The benchmarks that measure these primitives, each once.
fn benchmarks_of(primitives: impl IntoIterator<Item = Primitive>, catalogue: &Catalogue) -> Vec<String> {
    let mut benchmarks: Vec<String> = Vec::new();
    for benchmark in primitives.into_iter().filter_map(|primitive| benchmark_of(primitive, catalogue)) {
        if !benchmarks.iter().any(|known| known == benchmark) && benchmarks.len() < MOST {
            benchmarks.push(benchmark.to_owned());
        }
    }
    benchmarks
}

fn for_unmeasured(group: &Unmeasured, catalogue: &Catalogue) -> Experiment {
    let benchmarks = benchmarks_of(group.candidates.iter().copied(), catalogue);
    let named: Vec<String> = group.candidates.iter().take(MOST).map(|primitive| primitive.title().to_owned()).collect();
    let files = group.candidates.contains(&Primitive::FileMetadata);
    let mounts = if files { "; compare the mount options" } else { "" };
    let link = if group.candidates.contains(&Primitive::DynamicLink) {
        "; then exec a static and a dynamic program"
    } else {
        ""
    };
    Experiment {
        benchmarks,
        why: format!("{}, which these results use and nothing here measures{mounts}{link}", model::words::list(&named)),
    }
}

fn of_the_common_factor(rivals: &[Rival], clock_seen: bool, catalogue: &Catalogue) -> Experiment {
    let named = |title: &str| rivals.iter().any(|rival| rival.title == title);
    let why = if named(DISTURBED) {
        CLEAN
    } else if named(NEIGHBOUR) {
        "repeat both runs at another hour, or on a host of your own; a neighbour's effect vanishes"
    } else if clock_seen {
        "repeat both runs; a factor that stays at equal clocks is not the clock"
    } else {
        "repeat both runs with the clock recorded; if it is the clock, both change together"
    };
    Experiment { benchmarks: benchmarks_of([Primitive::CoreClock], catalogue), why: why.to_owned() }
}

fn without_a_fact(cause: &Cause, catalogue: &Catalogue) -> Experiment {
    let benchmarks = benchmarks_of(cause.primitives.iter().copied(), catalogue);
    Experiment { benchmarks, why: format!("{} by itself, since no recorded difference explains it", cause.title) }
}

fn confirm(rule: &Rule, cause: &Cause, catalogue: &Catalogue) -> Experiment {
    let parameter = cause.because.iter().find(|d| d.kind == DifferenceKind::Parameter);
    let why = parameter.map_or_else(
        || format!("change only {} and run again; if it is the cause, the difference vanishes", rule.title),
        |parameter| {
            format!("both machines at {}={} and {}={}", parameter.name, parameter.a, parameter.name, parameter.b)
        },
    );
    Experiment { benchmarks: vec![rule.shown_by(catalogue).to_owned()], why }
}

/// A measurement that separates the first two rivals, or shows a single one that is not named; `None` without rivals.
fn between_rivals(rivals: &[Rival], cause: &Cause, catalogue: &Catalogue) -> Option<Experiment> {
    let rule = |rival: &Rival| RULES.iter().find(|rule| rule.title == rival.title);
    let itself = || cause.unit.to_string();
    let first = rivals.first()?;
    if first.title == DISTURBED {
        return Some(Experiment { benchmarks: vec![itself()], why: CLEAN.to_owned() });
    }
    if first.title == CPU_LIMIT {
        let why = "repeat both runs without a limit on CPU time; its effect vanishes".to_owned();
        return Some(Experiment { benchmarks: vec![itself()], why });
    }
    let first = rule(first)?;
    match rivals.get(1).and_then(rule) {
        Some(second) => Some(between(first, second, cause, catalogue)),
        None => {
            let why = format!("{} by itself; then change only that and run again", first.title);
            Some(Experiment { benchmarks: vec![first.shown_by(catalogue).to_owned()], why })
        }
    }
}

/// For each direction, a result that only one of the two affects. If there is none, only a separate change of one of
/// them can decide.
fn between(first: &Rule, second: &Rule, cause: &Cause, catalogue: &Catalogue) -> Experiment {
    let apart = |one: &Rule, other: &Rule| -> Option<Primitive> {
        let only: Vec<Primitive> = one.touches.iter().copied().filter(|primitive| !other.touches(*primitive)).collect();
        only.iter().copied().find(|p| !cause.primitives.contains(p)).or_else(|| only.first().copied())
    };
    let benchmarks = benchmarks_of([apart(first, second), apart(second, first)].into_iter().flatten(), catalogue);
    if benchmarks.is_empty() {
        let why = format!(
            "{} and {} affect the same results; change only one of them and run again",
            first.title, second.title
        );
        return Experiment { benchmarks: vec![first.shown_by(catalogue).to_owned()], why };
    }
    let why =
        format!("results that only one of {} and {} affects, since both could be the cause", first.title, second.title);
    Experiment { benchmarks, why }
}
