//! Evidence for and against each known cause, of three kinds.
//!
//! Both runs must record a fact and differ in it. The cause's own primitive must have been measured and have changed.
//! The results' parameters must allow an effect of the fact. If everything that the cause touches changed and no other
//! cause would have changed it, the cause is named; otherwise it is one of several that are consistent with the data.

use compare::conditions::{DisturbanceKind, RunDisturbance, disturbances};
use compare::{Relation, relation};
use model::{Catalogue, Run};

use super::budget::CauseCost;
use super::group::CauseGroup;
use super::limit::LimitEvidence;
use super::result::{DifferenceKind, Rival, RunDifference};
use super::rules::{CPU_LIMIT, DISTURBED, RULES, Rule};
use super::scope::Scope;
use super::test::ExplainedResult;
use super::text::results;

/// Differences between the runs other than their results.
pub(crate) struct Evidence<'a> {
    /// The benchmarks.
    pub(crate) catalogue: &'a Catalogue,
    /// Facts, settings and parameters.
    pub(crate) differences: &'a [RunDifference],
    /// The limit on CPU time, if it differs and was effective.
    pub(crate) limit: Option<&'a LimitEvidence>,
    /// Disturbances of the runs, if they differ.
    pub(crate) disturbed: Option<&'a Rival>,
}

/// Disturbances whose amounts are within this factor count as equal.
const SIMILAR: f64 = 1.5;

/// Share of the least change, as logarithms, below which a change is much less than that.
const LESS: f64 = 0.5;

/// A known cause that the facts allow, compared with the results.
pub(crate) struct Candidate {
    pub(crate) rule: &'static Rule,
    pub(crate) because: Vec<RunDifference>,
    /// Tests that it can touch and that changed in its direction.
    moved: Vec<usize>,
    /// Tests that it touches and that are inconclusive: they speak neither for it nor against it.
    open: Vec<usize>,
    /// Missing evidence for naming it; empty if everything conclusive that it affects changed.
    missing: Vec<String>,
}

/// Evidence of a test for a cause that can affect it.
#[derive(Clone, Copy, PartialEq)]
enum Says {
    /// It changed as the cause would change it.
    Moved,
    /// It changed the other way.
    Against,
    /// It was shown to be the same.
    Same,
    /// It was shown to have changed by much less than all that did: by this factor at most.
    Less(f64),
    /// Inconclusive.
    Open,
}

impl Says {
    const fn is_unmoved(self) -> bool {
        matches!(self, Self::Same | Self::Less(_))
    }
}

/// Every known cause whose fact differs and which the results do not refute.
pub(crate) fn candidates(tests: &[ExplainedResult], evidence: &Evidence<'_>) -> Vec<Candidate> {
    let by_facts = RULES.iter().filter(|rule| rule.title != CPU_LIMIT);
    by_facts.filter_map(|rule| candidate(rule, tests, evidence)).collect()
}

fn candidate(rule: &'static Rule, tests: &[ExplainedResult], evidence: &Evidence<'_>) -> Option<Candidate> {
    let (differences, catalogue) = (evidence.differences, evidence.catalogue);
    let because: Vec<RunDifference> =
        differences.iter().filter(|d| d.kind != DifferenceKind::Parameter && rule.names(d)).cloned().collect();
    if because.is_empty() {
        return None;
    }
    let slower = direction(rule, &because);
    let says = testimony(rule, tests, slower, catalogue);
    let of = |kind: Says| says.iter().filter(|(_, said)| *said == kind).map(|(index, _)| *index).collect::<Vec<_>>();
    let own = || says.iter().filter(|(index, _)| rule.own.is_empty() || rule.own.contains(&tests[*index].primitive));
    let own_moved = own().any(|(_, said)| *said == Says::Moved);
    let own_open = own().any(|(_, said)| *said == Says::Open);
    let own_unmoved = own().any(|(_, said)| said.is_unmoved());
    // Refuted: its own primitive was measured and did not change, or a result that it affects changed in the wrong
    // direction.
    let wrong_way = says.iter().any(|(_, said)| *said == Says::Against);
    if !own_moved && ((own_unmoved && !own_open) || wrong_way) {
        return None;
    }
    let shown = if own_moved { None } else { Some(if own_open { "is inconclusive" } else { "was not measured" }) };
    let missing = missing(rule, tests, &says, shown.map(|why| (rule.shown_by(catalogue), why)));
    let mut open = of(Says::Open);
    open.retain(|&index| rule.touches.contains(&tests[index].primitive));
    Some(Candidate { rule, because, moved: of(Says::Moved), open, missing })
}

/// Evidence of every test that a rule can affect. `slower`: whether the rule makes B the slower side, if known.
fn testimony(
    rule: &Rule,
    tests: &[ExplainedResult],
    slower: Option<bool>,
    catalogue: &Catalogue,
) -> Vec<(usize, Says)> {
    let right_way = |test: &ExplainedResult| slower.is_none_or(|slower| slower == (test.residual > 0.0));
    let moved = |test: &ExplainedResult| {
        // A test is no evidence if it only differs because the common factor was removed, or if its own change is
        // within its noise.
        let noise = test.error.map_or(0.0, |error| 3.0 * error);
        let own = test.by_itself();
        let by_itself = own * test.residual > 0.0 && own.abs() > stats::BAND.max(noise);
        test.significant && by_itself && right_way(test)
    };
    let in_scope: Vec<usize> = (0..tests.len()).filter(|&index| in_scope(rule, &tests[index], catalogue)).collect();
    let sizes = in_scope.iter().filter(|&&index| moved(&tests[index])).map(|&index| tests[index].residual.abs());
    let least = sizes.fold(f64::INFINITY, f64::min);
    let says = |test: &ExplainedResult| match test.error {
        _ if moved(test) => Says::Moved,
        _ if test.significant && !right_way(test) => Says::Against,
        _ if test.significant => Says::Open,
        _ if test.same => Says::Same,
        // Undecided is not unmoved: it may lie on the right side by more than its error, or have moved as much as
        // others.
        Some(error) => {
            let size = if right_way(test) { test.residual.abs() } else { 0.0 };
            let most = size + 2.0 * error;
            let open = size > error.max(stats::BAND) || most > LESS * least || least.is_infinite();
            if open { Says::Open } else { Says::Less(most.exp()) }
        }
        None => Says::Same,
    };
    in_scope.into_iter().map(|index| (index, says(&tests[index]))).collect()
}

/// Whether a rule can touch a test, by the primitive that it measures and by its parameters.
fn in_scope(rule: &Rule, test: &ExplainedResult, catalogue: &Catalogue) -> bool {
    let alone = !test.composite && test.parameters.is_empty();
    alone
        && reaches(rule, test)
        && rule.touches(test.primitive)
        && rule.scope.holds(&test.key, &test.declares, catalogue)
}

/// Whether the counted batches can show a rule's effect.
pub(crate) fn reaches(rule: &Rule, test: &ExplainedResult) -> bool {
    rule.scope != Scope::Unfiltered || !test.filtered
}

/// Whether B is the slower side, if all differences with a direction agree.
fn direction(rule: &Rule, because: &[RunDifference]) -> Option<bool> {
    let said: Vec<bool> = because.iter().filter_map(|difference| rule.slower_b(difference)).collect();
    said.first().copied().filter(|first| said.len() == because.len() && said.iter().all(|one| one == first))
}

fn missing(rule: &Rule, tests: &[ExplainedResult], says: &[(usize, Says)], shown: Option<(&str, &str)>) -> Vec<String> {
    let mut missing = Vec::new();
    if let Some((benchmark, why)) = shown {
        missing.push(format!("{benchmark}, which would show it, {why}"));
    }
    let expected = |test: &ExplainedResult| rule.touches.contains(&test.primitive);
    let of = |kind: &dyn Fn(Says) -> bool| -> Vec<model::ResultKey> {
        let those = says.iter().filter(|(index, said)| expected(&tests[*index]) && kind(*said));
        those.map(|(index, _)| tests[*index].key.clone()).collect()
    };
    let less = says.iter().filter(|(index, _)| expected(&tests[*index]));
    let most = less.filter_map(|(_, said)| if let Says::Less(most) = said { Some(*most) } else { None });
    let most = most.fold(1.0, f64::max);
    for (keys, did) in [
        (of(&|said| said == Says::Against), "changed the other way".to_owned()),
        (of(&|said| said == Says::Same), "did not change".to_owned()),
        (of(&|said| matches!(said, Says::Less(_))), format!("changed at most {most:.2}x")),
    ] {
        if !keys.is_empty() {
            missing.push(format!("{}, which should be affected as well, {did}", results(&keys)));
        }
    }
    let moved = || says.iter().filter(|(_, said)| *said == Says::Moved).map(|(index, _)| &tests[*index]);
    let upward = moved().filter(|test| test.residual > 0.0).count();
    if upward > 0 && upward < moved().count() {
        missing.push("some results that depend on it are slower and some faster".to_owned());
    }
    let mut benchmarks: Vec<&str> = moved().map(|test| test.key.benchmark.as_str()).collect();
    benchmarks.sort_unstable();
    benchmarks.dedup();
    if benchmarks.len() < 2 {
        missing.push("it is supported by a single result only".to_owned());
    }
    missing
}

/// Possible causes of a group of tests.
#[derive(Default)]
pub(crate) struct Standing {
    /// The named cause: its fact differs, everything that it touches changed, and no other cause would have the effect.
    pub(crate) named: Option<&'static Rule>,
    pub(crate) because: Vec<RunDifference>,
    /// Tests that it touches and that are inconclusive.
    pub(crate) open: Vec<usize>,
    /// All possible causes, if none is named; the likeliest first.
    pub(crate) rivals: Vec<Rival>,
    /// Rules behind the rivals, in their order.
    pub(crate) rules: Vec<&'static Rule>,
}

/// The possible causes of a group, among known causes and disturbances of the runs.
pub(crate) fn standing(
    group: &CauseGroup,
    tests: &[ExplainedResult],
    costs: &[Option<CauseCost>],
    candidates: &[Candidate],
    evidence: &Evidence<'_>,
) -> Standing {
    let by_parameter = !tests[group.unit].parameters.is_empty();
    // A limit on CPU time may affect long operations alone, since short ones fit into a slice.
    let limit = evidence.limit.filter(|limit| limit.explains(tests[group.unit].log));
    let (seen, unseen) =
        (limit.filter(|limit| limit.seen && !by_parameter), limit.filter(|limit| !limit.seen || by_parameter));
    let limited = unseen.map(|limit| Rival {
        title: CPU_LIMIT.to_owned(),
        because: vec![limit.because.clone()],
        but: vec!["no run recorded that it was stopped".to_owned()],
    });
    let before: Vec<Rival> = evidence.disturbed.cloned().into_iter().chain(limited).collect();
    let mut fitting: Vec<(&Candidate, Vec<String>)> = candidates
        .iter()
        .filter_map(|candidate| {
            let missing = if by_parameter {
                beside_an_parameter(candidate, group, tests, evidence.catalogue)
            } else {
                fits(candidate, group, tests, costs)
            };
            Some((candidate, missing?))
        })
        .collect();
    let weight = |(candidate, missing): &(&Candidate, Vec<String>)| {
        let touched: f64 = candidate.moved.iter().map(|&index| tests[index].residual.abs()).sum();
        (missing.len(), usize::from(candidate.rule.wide), touched)
    };
    fitting.sort_by(|a, b| {
        let (a, b) = (weight(a), weight(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2))
    });
    let nothing = match seen {
        Some(limit) => Standing {
            named: RULES.iter().find(|rule| rule.title == CPU_LIMIT),
            because: vec![limit.because.clone()],
            ..Standing::default()
        },
        None => Standing { because: group.because.clone(), ..Standing::default() },
    };
    match fitting.as_slice() {
        [] if before.is_empty() => return nothing,
        [(only, missing)]
            if missing.is_empty() && before.is_empty() && seen.is_none() && !by_parameter && !only.rule.wide =>
        {
            let (because, open) = (only.because.clone(), only.open.clone());
            return Standing { named: Some(only.rule), because, open, ..nothing };
        }
        _ => {}
    }
    let rules = fitting.iter().map(|(candidate, _)| candidate.rule).collect();
    let rival = |(candidate, missing): (&Candidate, Vec<String>)| Rival {
        title: candidate.rule.title.to_owned(),
        because: candidate.because.clone(),
        but: missing,
    };
    let rivals = before.into_iter().chain(fitting.into_iter().map(rival)).collect();
    Standing { rivals, rules, ..nothing }
}

/// Conditions that a candidate lacks to explain a group of tests at equal sets of parameters; `None` if it affects none
/// of them.
fn fits(
    candidate: &Candidate,
    group: &CauseGroup,
    tests: &[ExplainedResult],
    costs: &[Option<CauseCost>],
) -> Option<Vec<String>> {
    let of_its_own = |index: &&usize| {
        group.primitives.contains(&tests[**index].primitive)
            && matches!(costs[**index], Some(CauseCost::Own | CauseCost::ExplainedBy(..)))
    };
    let members: Vec<usize> = group.tests.iter().filter(of_its_own).copied().collect();
    let (touched, beyond): (Vec<usize>, Vec<usize>) = members.iter().partition(|index| candidate.moved.contains(index));
    if touched.is_empty() {
        return None;
    }
    let mut missing = candidate.missing.clone();
    if !beyond.is_empty() {
        let keys: Vec<model::ResultKey> = beyond.iter().map(|&index| tests[index].key.clone()).collect();
        missing.push(format!("{} changed as well, which it cannot affect", results(&keys)));
    }
    Some(missing)
}

/// The same for tests whose sets of parameters differ: the fact must be able to touch them apart from the parameter.
fn beside_an_parameter(
    candidate: &Candidate,
    group: &CauseGroup,
    tests: &[ExplainedResult],
    catalogue: &Catalogue,
) -> Option<Vec<String>> {
    let touches = |index: &usize| {
        let test = &tests[*index];
        reaches(candidate.rule, test)
            && candidate.rule.touches(test.primitive)
            && candidate.rule.scope.holds(&test.key, &test.declares, catalogue)
    };
    group.tests.iter().any(touches).then(|| candidate.missing.clone())
}

/// Disturbances that the runs recorded, if they differ: the first rival of any cause. Within one session both runs are
/// disturbed alike. Throttling belongs to the limit, if that differs.
pub(crate) fn disturbed(a: &Run, b: &Run, names: (&str, &str), limited: bool) -> Option<Rival> {
    if relation(a, b) == Relation::SameSession {
        return None;
    }
    let (of_a, of_b) = (disturbances(a), disturbances(b));
    let unlike = |one: &RunDisturbance, others: &[RunDisturbance]| {
        let same = others.iter().find(|other| other.kind == one.kind);
        // A neighbour on the core affects only results that are not filtered: it is a rival of its own.
        let neighbour = matches!(one.kind, DisturbanceKind::CoreShared | DisturbanceKind::SharedCore);
        let apart =
            neighbour || one.kind == DisturbanceKind::Cpus || (limited && one.kind == DisturbanceKind::Throttling);
        !apart && !same.is_some_and(|same| alike(one.amount, same.amount))
    };
    if !of_a.iter().any(|one| unlike(one, &of_b)) && !of_b.iter().any(|one| unlike(one, &of_a)) {
        return None;
    }
    let says = |found: &[RunDisturbance]| {
        let says: Vec<&str> = found.iter().map(|one| one.says.as_str()).collect();
        if says.is_empty() { "no interference was recorded".to_owned() } else { says.join(", ") }
    };
    let (a, b) = (format!("{}: {}", names.0, says(&of_a)), format!("{}: {}", names.1, says(&of_b)));
    let because = vec![RunDifference {
        kind: DifferenceKind::Condition,
        name: "conditions".to_owned(),
        a,
        b,
        affects: Vec::new(),
        unit: None,
    }];
    Some(Rival { title: DISTURBED.to_owned(), because, but: Vec::new() })
}

fn alike(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.max(b) <= SIMILAR * a.min(b),
        (a, b) => a == b,
    }
}
