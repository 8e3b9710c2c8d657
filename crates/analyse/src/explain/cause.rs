//! Causes: groups of tests that one excess pays for, joined with what differs between the runs.

use model::Primitive;

use super::budget::{Bill, unit_of};
use super::result::{Cause, Difference, DifferenceKind, Payment};
use super::rules::{RULES, Rule};
use super::test::Test;
use super::text;
use crate::words;

/// A cause before it is written out.
pub(crate) struct Group {
    pub(crate) primitives: Vec<Primitive>,
    /// Test whose excess is the unit.
    pub(crate) unit: usize,
    /// Tests that it pays for, the unit first.
    pub(crate) tests: Vec<usize>,
    pub(crate) because: Vec<Difference>,
    pub(crate) rule: Option<&'static Rule>,
}

/// Tests that do not differ count so much against a rule that says they should, as a logarithm each.
const CONTRADICTION: f64 = 0.02;

/// Groups by differing axis, then by primitive.
pub(crate) fn groups(tests: &[Test], bills: &[Option<Bill>]) -> Vec<Group> {
    let mut groups = by_axis(tests);
    for &primitive in Primitive::ALL {
        let Some(unit) = unit_of(tests, primitive) else { continue };
        let pays = |index: &usize| match &bills[*index] {
            Some(Bill::Own) => tests[*index].primitive == primitive,
            Some(Bill::PaidBy(by, _)) => tests[*by].primitive == primitive,
            _ => false,
        };
        let mut members: Vec<usize> = (0..tests.len()).filter(pays).collect();
        // A primitive whose every test is paid for by another is no cause of its own.
        if !members.iter().any(|&index| tests[index].primitive == primitive) {
            continue;
        }
        members.retain(|&index| index != unit);
        members.insert(0, unit);
        groups.push(Group { primitives: vec![primitive], unit, tests: members, because: Vec::new(), rule: None });
    }
    groups
}

fn by_axis(tests: &[Test]) -> Vec<Group> {
    let mut groups: Vec<(String, Group)> = Vec::new();
    for (index, test) in tests.iter().enumerate().filter(|(_, test)| test.significant) {
        for (axis, a, b) in &test.axes {
            let because = Difference {
                kind: DifferenceKind::Axis,
                name: axis.clone(),
                a: a.clone(),
                b: b.clone(),
                affects: Vec::new(),
            };
            if let Some((_, group)) = groups.iter_mut().find(|(known, _)| known == axis) {
                group.tests.push(index);
                if !group.primitives.contains(&test.primitive) {
                    group.primitives.push(test.primitive);
                }
                if !group.because.contains(&because) {
                    group.because.push(because);
                }
            } else {
                let rule = RULES.iter().find(|rule| rule.names(DifferenceKind::Axis, axis));
                let group = Group {
                    primitives: vec![test.primitive],
                    unit: index,
                    tests: vec![index],
                    because: vec![because],
                    rule,
                };
                groups.push((axis.clone(), group));
            }
        }
    }
    let widest = |group: &Group| {
        group.tests.iter().copied().max_by(|&a, &b| tests[a].residual.abs().total_cmp(&tests[b].residual.abs()))
    };
    groups
        .into_iter()
        .map(|(_, mut group)| {
            group.unit = widest(&group).unwrap_or(group.unit);
            group
        })
        .collect()
}

/// What a group explains: the greatest residual of each probe, so that a probe at twenty points does not count twenty
/// times.
pub(crate) fn explained(tests: &[Test], group: &Group) -> f64 {
    let mut probes: Vec<(&str, f64)> = Vec::new();
    for &index in &group.tests {
        let (probe, size) = (tests[index].key.probe.as_str(), tests[index].residual.abs());
        match probes.iter_mut().find(|(known, _)| *known == probe) {
            Some((_, known)) => *known = known.max(size),
            None => probes.push((probe, size)),
        }
    }
    probes.iter().map(|(_, size)| size).sum()
}

/// Joins groups with the differences that would bring them about: the rule that explains most with least contradiction
/// first. Groups of a narrow rule become one; wide ones (another kernel, another CPU) only name what may lie behind.
pub(crate) fn attach(mut groups: Vec<Group>, tests: &[Test], differences: &[Difference]) -> Vec<Group> {
    let mut rules: Vec<(&'static Rule, Vec<&Difference>, f64)> = RULES
        .iter()
        .map(|rule| (rule, differences.iter().filter(|d| rule.names(d.kind, note_or_name(d))).collect::<Vec<_>>(), 0.0))
        .filter(|(_, found, _)| !found.is_empty())
        .collect();
    let touched = |rule: &Rule, group: &Group| group.primitives.iter().any(|&primitive| rule.touches(primitive));
    for (rule, _, score) in &mut rules {
        let covered: f64 =
            groups.iter().filter(|group| touched(rule, group)).map(|group| explained(tests, group)).sum();
        let quiet = tests.iter().filter(|test| !test.significant && rule.touches(test.primitive)).count();
        *score = covered - CONTRADICTION * quiet as f64;
    }
    rules.sort_by(|a, b| b.2.total_cmp(&a.2));
    for (rule, found, _) in &rules {
        let mut merged: Option<Group> = None;
        let mut kept = Vec::new();
        for mut group in groups {
            if !touched(rule, &group) {
                kept.push(group);
                continue;
            }
            let first = group.rule.is_none();
            group
                .because
                .extend(found.iter().map(|d| (*d).clone()).filter(|d| !group.because.contains(d)).collect::<Vec<_>>());
            group.rule = group.rule.or(Some(rule));
            match &mut merged {
                Some(into) if first && rule.merges => join(into, group, tests),
                None if first && rule.merges => merged = Some(group),
                _ => kept.push(group),
            }
        }
        kept.extend(merged);
        groups = kept;
    }
    for group in &mut groups {
        let by_itself = |d: &&Difference| d.affects.iter().any(|p| group.primitives.contains(p));
        let more: Vec<Difference> =
            differences.iter().filter(by_itself).filter(|d| !group.because.contains(d)).cloned().collect();
        group.because.extend(more);
    }
    groups.sort_by(|a, b| explained(tests, b).total_cmp(&explained(tests, a)));
    groups
}

/// Rules look at what a note says and at what other differences are called.
pub(crate) fn note_or_name(difference: &Difference) -> &str {
    match difference.kind {
        DifferenceKind::Note if difference.a.starts_with("no such") => &difference.b,
        DifferenceKind::Note => &difference.a,
        _ => &difference.name,
    }
}

fn join(into: &mut Group, other: Group, tests: &[Test]) {
    let more = other.tests.into_iter().filter(|test| !into.tests.contains(test)).collect::<Vec<_>>();
    into.tests.extend(more);
    into.primitives.extend(other.primitives);
    if tests[other.unit].residual.abs() > tests[into.unit].residual.abs() {
        into.unit = other.unit;
    }
    into.because.extend(other.because.into_iter().filter(|d| !into.because.contains(d)).collect::<Vec<_>>());
}

/// Writes a group out, with its arithmetic.
pub(crate) fn cause(group: &Group, tests: &[Test], bills: &[Option<Bill>], common: f64, z: f64) -> Cause {
    let unit = &tests[group.unit];
    let excess = unit.excess(common);
    let interval = unit.excess_interval(common, z);
    // Units are counted only where they pay; tests that one known cause joins are not each other's change.
    let counted = |index: usize| matches!(bills.get(index), Some(Some(Bill::PaidBy(by, _))) if *by == group.unit);
    let pays_for: Vec<Payment> = group
        .tests
        .iter()
        .map(|&index| {
            let test = &tests[index];
            Payment {
                test: test.key.clone(),
                excess: test.excess(common),
                factor: test.residual.exp(),
                units: test.excess(common) / excess,
                uses: test.uses.count(unit.primitive).filter(|_| counted(index)),
            }
        })
        .collect();
    let axis = group.because.iter().any(|d| d.kind == DifferenceKind::Axis);
    let title = match group.rule {
        Some(rule) if axis || group.primitives.len() > 1 => rule.title.to_owned(),
        _ => words::list(&group.primitives.iter().map(|p| p.title().to_owned()).collect::<Vec<_>>()),
    };
    let mut arithmetic: Vec<String> = group.tests.iter().map(|&index| line(&tests[index], common)).collect();
    for &index in &group.tests {
        if let Some(Some(Bill::PaidBy(by, needed))) = bills.get(index) {
            arithmetic.push(payment_line(&tests[index], &tests[*by], *needed, common));
        }
    }
    Cause {
        title,
        primitives: group.primitives.clone(),
        unit: unit.key.clone(),
        per: unit.per.clone(),
        excess,
        excess_low: interval.map(|i| i.0),
        excess_high: interval.map(|i| i.1),
        factor: unit.residual.exp(),
        pays_for,
        explained: explained(tests, group),
        because: group.because.clone(),
        known_as: group.rule.map(|rule| rule.title.to_owned()),
        arithmetic,
    }
}

/// `os.exec: 3.62 ms − 747 µs × 0.9625 = 2.90 ms per exec (+403% after the common factor)`.
pub(crate) fn line(test: &Test, common: f64) -> String {
    format!(
        "{}: {} − {} × {:.4} = {} per {} ({} after the common factor)",
        test.key,
        words::seconds(test.time_b),
        words::seconds(test.time_a),
        common,
        words::seconds(test.excess(common)),
        test.per,
        text::percent(test.residual.exp(), 0)
    )
}

/// `os.fork_exit: 15.8 µs / 8.29 µs = 1.9 units of os.pipe_switch; it uses 2.0`.
fn payment_line(test: &Test, unit: &Test, needed: f64, common: f64) -> String {
    let uses = test.uses.count(unit.primitive).map_or_else(String::new, |count| {
        let source = if test.uses.measured { "measured" } else { "assumed" };
        format!("; it uses {} ({source})", text::count(count))
    });
    format!(
        "{}: {} / {} = {} of {}{uses}",
        test.key,
        words::seconds(test.excess(common)),
        words::seconds(unit.excess(common)),
        text::count(needed),
        unit.key
    )
}
