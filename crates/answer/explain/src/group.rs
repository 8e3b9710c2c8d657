//! Groups of tests that one excess explains, before evidence is considered.

use model::Primitive;

use super::budget::{CauseCost, unit_of};
use super::result::{DifferenceKind, Rival, RunDifference};
use super::rules::{DISTURBED, NEIGHBOUR, RULES, Rule};
use super::test::ExplainedResult;

/// How much longer something may take in one session than in the next if other work keeps it waiting for CPUs.
const BY_A_CROWD: f64 = 1.5;

/// A cause under construction.
pub(crate) struct CauseGroup {
    pub(crate) primitives: Vec<Primitive>,
    /// Test whose excess is the unit.
    pub(crate) unit: usize,
    /// Tests that it explains, the unit first.
    pub(crate) tests: Vec<usize>,
    /// Differences behind it, if a cause is named.
    pub(crate) because: Vec<RunDifference>,
    /// The known cause, if one is named.
    pub(crate) rule: Option<&'static Rule>,
    /// Tests that the named cause touches and that are inconclusive.
    pub(crate) open: Vec<usize>,
    /// Possible causes, if none or only a parameter is named.
    pub(crate) rivals: Vec<Rival>,
    /// Known causes among the rivals.
    pub(crate) rival_rules: Vec<&'static Rule>,
}

impl CauseGroup {
    /// A group of tests, before evidence is considered.
    pub(crate) const fn of(primitives: Vec<Primitive>, unit: usize, tests: Vec<usize>) -> Self {
        Self {
            primitives,
            unit,
            tests,
            because: Vec::new(),
            rule: None,
            open: Vec::new(),
            rivals: Vec::new(),
            rival_rules: Vec::new(),
        }
    }

    /// Whether disturbances of the runs may explain all of it, and no differing fact or parameter may. A change is then
    /// no cause: between a quiet and a loaded session of one machine a third of the pairs had such changes. A crowd
    /// that both runs were in is not the same for both either.
    pub(crate) fn is_of_disturbances(&self, tests: &[ExplainedResult], crowded: bool) -> bool {
        let disturbance = |rival: &Rival| [DISTURBED, NEIGHBOUR].contains(&rival.title.as_str());
        let small = || self.tests.iter().all(|&index| tests[index].residual.abs() < BY_A_CROWD.ln());
        self.rule.is_none()
            && self.because.is_empty()
            && self.rivals.iter().all(disturbance)
            && (!self.rivals.is_empty() || (crowded && small()))
    }
}

/// Groups by differing parameter, then by primitive.
pub(crate) fn groups(tests: &[ExplainedResult], costs: &[Option<CauseCost>]) -> Vec<CauseGroup> {
    let mut groups = by_parameter(tests);
    for &primitive in Primitive::ALL {
        let Some(unit) = unit_of(tests, primitive) else { continue };
        let pays = |index: &usize| match &costs[*index] {
            Some(CauseCost::Own) => tests[*index].primitive == primitive,
            Some(CauseCost::ExplainedBy(by, _)) => tests[*by].primitive == primitive,
            _ => false,
        };
        let mut members: Vec<usize> = (0..tests.len()).filter(pays).collect();
        // A primitive whose tests are all explained by another is no separate cause.
        if !members.iter().any(|&index| tests[index].primitive == primitive) {
            continue;
        }
        members.retain(|&index| index != unit);
        members.insert(0, unit);
        groups.push(CauseGroup::of(vec![primitive], unit, members));
    }
    groups
}

fn by_parameter(tests: &[ExplainedResult]) -> Vec<CauseGroup> {
    let mut groups: Vec<(String, CauseGroup)> = Vec::new();
    for (index, test) in tests.iter().enumerate().filter(|(_, test)| test.significant) {
        for (parameter, a, b) in &test.parameters {
            let because = RunDifference {
                kind: DifferenceKind::Parameter,
                name: parameter.clone(),
                a: a.clone(),
                b: b.clone(),
                affects: Vec::new(),
                unit: None,
            };
            if let Some((_, group)) = groups.iter_mut().find(|(known, _)| known == parameter) {
                group.tests.push(index);
                if !group.primitives.contains(&test.primitive) {
                    group.primitives.push(test.primitive);
                }
                if !group.because.contains(&because) {
                    group.because.push(because);
                }
            } else {
                let rule = RULES.iter().find(|rule| rule.names(&because));
                let group = CauseGroup {
                    because: vec![because],
                    rule,
                    ..CauseGroup::of(vec![test.primitive], index, vec![index])
                };
                groups.push((parameter.clone(), group));
            }
        }
    }
    let widest = |group: &CauseGroup| {
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

/// Size of a group: the greatest residual of each benchmark, so that a benchmark at twenty sets of parameters does not
/// count twenty times.
pub(crate) fn explained(tests: &[ExplainedResult], group: &CauseGroup) -> f64 {
    let mut benchmarks: Vec<(&str, f64)> = Vec::new();
    for &index in &group.tests {
        let (benchmark, size) = (tests[index].key.benchmark.as_str(), tests[index].residual.abs());
        match benchmarks.iter_mut().find(|(known, _)| *known == benchmark) {
            Some((_, known)) => *known = known.max(size),
            None => benchmarks.push((benchmark, size)),
        }
    }
    benchmarks.iter().map(|(_, size)| size).sum()
}
