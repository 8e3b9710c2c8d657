//! Causes: groups of tests that one excess explains, joined with the differences between the runs.

use super::budget::CauseCost;
use super::evidence::{Evidence, candidates, standing};
use super::group::{CauseGroup, explained};
use super::result::{Cause, DifferenceKind, Payment};
use super::rules::CPU_LIMIT;
use super::test::ExplainedResult;
use super::text;
use model::words;

/// Gives every group the cause that the evidence names, or the remaining rivals. Groups with the same named cause are
/// merged, and so are groups with the same rivals if one of them is narrow.
pub(crate) fn attach(
    groups: Vec<CauseGroup>,
    tests: &[ExplainedResult],
    costs: &[Option<CauseCost>],
    evidence: &Evidence<'_>,
) -> Vec<CauseGroup> {
    let candidates = candidates(tests, evidence);
    let mut joined: Vec<CauseGroup> = Vec::new();
    for mut group in groups {
        let standing = standing(&group, tests, costs, &candidates, evidence);
        group.rule = group.rule.or(standing.named);
        group.because = standing.because;
        group.open = standing.open;
        group.rivals = standing.rivals;
        group.rival_rules = standing.rules;
        match joined.iter_mut().find(|other| other.is_one_with(&group)) {
            Some(into) => join(into, group, tests),
            None => joined.push(group),
        }
    }
    joined.sort_by(|a, b| explained(tests, b).total_cmp(&explained(tests, a)));
    joined
}

impl CauseGroup {
    fn is_one_with(&self, other: &Self) -> bool {
        let parameter = |group: &Self| group.because.iter().any(|d| d.kind == DifferenceKind::Parameter);
        if parameter(self) || parameter(other) {
            return false;
        }
        let titles = |group: &Self| group.rivals.iter().map(|rival| rival.title.clone()).collect::<Vec<_>>();
        match (self.rule, other.rule) {
            (Some(one), Some(two)) => one.title == two.title,
            (None, None) => self.rival_rules.iter().any(|rule| !rule.wide) && titles(self) == titles(other),
            _ => false,
        }
    }
}

fn join(into: &mut CauseGroup, other: CauseGroup, tests: &[ExplainedResult]) {
    let more = other.tests.into_iter().filter(|test| !into.tests.contains(test)).collect::<Vec<_>>();
    into.tests.extend(more);
    into.primitives.extend(other.primitives);
    if tests[other.unit].residual.abs() > tests[into.unit].residual.abs() {
        into.unit = other.unit;
    }
    into.because.extend(other.because.into_iter().filter(|d| !into.because.contains(d)).collect::<Vec<_>>());
    for (mine, theirs) in into.rivals.iter_mut().zip(other.rivals) {
        mine.but.extend(theirs.but.into_iter().filter(|but| !mine.but.contains(but)).collect::<Vec<_>>());
    }
}

/// The result for a group, with its arithmetic.
pub(crate) fn cause(group: &CauseGroup, tests: &[ExplainedResult], costs: &[Option<CauseCost>], z: f64) -> Cause {
    let unit = &tests[group.unit];
    let excess = unit.excess();
    let interval = unit.excess_interval(z);
    // Units are counted only if they explain a test; tests that a known cause joins do not explain each other.
    let counted =
        |index: usize| matches!(costs.get(index), Some(Some(CauseCost::ExplainedBy(by, _))) if *by == group.unit);
    let pays_for: Vec<Payment> = group
        .tests
        .iter()
        .map(|&index| {
            let test = &tests[index];
            Payment {
                test: test.key.clone(),
                excess: test.excess(),
                factor: test.residual.exp(),
                units: test.excess() / excess,
                uses: test.uses.count(unit.primitive).filter(|_| counted(index)),
            }
        })
        .collect();
    let parameter = group.because.iter().any(|d| d.kind == DifferenceKind::Parameter);
    let title = match group.rule {
        Some(rule)
            if parameter || rule.title == CPU_LIMIT || (group.primitives.len() > 1 && group.rivals.is_empty()) =>
        {
            rule.title.to_owned()
        }
        _ => words::list(&group.primitives.iter().map(|p| p.title().to_owned()).collect::<Vec<_>>()),
    };
    let mut arithmetic: Vec<String> = group.tests.iter().map(|&index| line(&tests[index])).collect();
    for &index in &group.tests {
        if let Some(Some(CauseCost::ExplainedBy(by, needed))) = costs.get(index) {
            arithmetic.push(payment_line(&tests[index], &tests[*by], *needed));
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
        slowdown: unit.log.exp(),
        factor: unit.residual.exp(),
        at_one_clock: unit.is_told_at_one_clock(),
        pays_for,
        explained: explained(tests, group),
        because: group.because.clone(),
        inconclusive: group.open.iter().map(|&index| tests[index].key.clone()).collect(),
        known_as: group.rule.filter(|_| group.rivals.is_empty()).map(|rule| rule.title.to_owned()),
        rivals: group.rivals.clone(),
        arithmetic,
    }
}

/// `os.exec: 3.62 ms − 747 µs × 0.9625 = 2.90 ms per exec (+403% after the common factor)`.
pub(crate) fn line(test: &ExplainedResult) -> String {
    let after = if test.is_told_at_one_clock() { "at one clock" } else { "after the common factor" };
    format!(
        "{}: {} − {} × {:.4} = {} per {} ({} {after})",
        test.key,
        words::seconds(test.time_b),
        words::seconds(test.time_a),
        test.removed.exp(),
        words::seconds(test.excess()),
        test.per,
        text::change(test.residual.exp(), 0)
    )
}

/// `os.fork_exit: 15.8 µs / 8.29 µs = 1.9 units of os.pipe_switch; it uses 2.0`.
fn payment_line(test: &ExplainedResult, unit: &ExplainedResult, needed: f64) -> String {
    let uses = test.uses.count(unit.primitive).map_or_else(String::new, |count| {
        let source = if test.uses.measured { "measured" } else { "assumed" };
        format!("; it uses {} ({source})", text::count(count))
    });
    format!(
        "{}: {} / {} = {} of {}{uses}",
        test.key,
        words::seconds(test.excess()),
        words::seconds(unit.excess()),
        text::count(needed),
        unit.key
    )
}
