//! What differs between two runs besides their figures.

use model::{Fact, FactValue, Run};

use super::result::{Difference, DifferenceKind};
use super::rules::RULES;

/// Numbers that differ by less are the same fact read twice.
const NOISE: f64 = 0.01;

/// Facts, settings and notes that differ. Facts that neither say what they affect nor stand in a rule are left out.
pub(crate) fn differences(a: &Run, b: &Run) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    let names = a.machine.facts.iter().chain(&b.machine.facts).map(|fact| fact.name.as_str());
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let (x, y) = (a.machine.fact(name), b.machine.fact(name));
        if let Some(difference) = fact(name, x, y) {
            found.push(difference);
        }
    }
    if a.plan.directory != b.plan.directory {
        found.push(Difference {
            kind: DifferenceKind::Plan,
            name: "plan.directory".to_owned(),
            a: a.plan.directory.clone().unwrap_or_else(|| "default".to_owned()),
            b: b.plan.directory.clone().unwrap_or_else(|| "default".to_owned()),
            affects: Vec::new(),
        });
    }
    found.extend(notes(a, b));
    found
}

fn fact(name: &str, a: Option<&Fact>, b: Option<&Fact>) -> Option<Difference> {
    let value = |fact: Option<&Fact>| fact.map(|fact| fact.value.clone());
    let same = match (value(a), value(b)) {
        (Some(FactValue::Number(x)), Some(FactValue::Number(y))) => (x - y).abs() <= NOISE * x.abs().max(y.abs()),
        (Some(FactValue::Unknown(_)) | None, Some(FactValue::Unknown(_)) | None) => true,
        (x, y) => x == y,
    };
    let mut affects = a.map(|fact| fact.affects.clone()).unwrap_or_default();
    affects
        .extend(b.iter().flat_map(|fact| &fact.affects).filter(|p| !affects.contains(p)).copied().collect::<Vec<_>>());
    let relevant = !affects.is_empty() || RULES.iter().any(|rule| rule.names(DifferenceKind::Fact, name));
    let text = |fact: Option<&Fact>| match fact.map(|fact| fact.value.text()) {
        None => "not recorded".to_owned(),
        Some(text) if text.is_empty() => "none".to_owned(),
        Some(text) => text,
    };
    (!same && relevant).then(|| Difference {
        kind: DifferenceKind::Fact,
        name: name.to_owned(),
        a: text(a),
        b: text(b),
        affects,
    })
}

fn notes(a: &Run, b: &Run) -> Vec<Difference> {
    let only = |x: &Run, y: &Run| -> Vec<String> {
        x.session.notes.iter().filter(|note| !y.session.notes.contains(note)).cloned().collect()
    };
    let note = |a: String, b: String| Difference {
        kind: DifferenceKind::Note,
        name: "session note".to_owned(),
        a,
        b,
        affects: Vec::new(),
    };
    let absent = || "no such note".to_owned();
    let of_a = only(a, b).into_iter().map(|text| note(text, absent()));
    of_a.chain(only(b, a).into_iter().map(|text| note(absent(), text))).collect()
}
