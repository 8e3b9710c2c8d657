//! Causes that affect all work in user mode at once: the clock, a limit on CPU time, disturbances of the runs.

use model::{Primitive, Run};

use super::cause::cause;
use super::clock::{ClockEvidence, clock_evidence};
use super::common::CommonFactorFit;
use super::evidence::{Evidence, reaches};
use super::follows::Follows;
use super::group::CauseGroup;
use super::limit::LimitEvidence;
use super::result::{Cause, CommonFactor, DifferenceKind, Rival, RunDifference};
use super::rules::{CPU_LIMIT, NEIGHBOUR, RULES, Rule};
use super::test::ExplainedResult;
use super::text::change;

/// Input of the judgement of the common factor.
pub(crate) struct Judging<'a> {
    pub(crate) runs: (&'a Run, &'a Run),
    pub(crate) evidence: &'a Evidence<'a>,
    pub(crate) band: f64,
    pub(crate) z: f64,
}

/// The complete common factor, and the limit on CPU time as the first cause if it may be behind it: a limit slows
/// everything down like a clock.
pub(crate) fn describe_common(
    tests: &[ExplainedResult],
    common: &CommonFactorFit,
    by: &Judging<'_>,
) -> (Option<Cause>, CommonFactor) {
    let pure: Vec<usize> = (0..tests.len()).filter(|&index| tests[index].pure_user).collect();
    let key = |index: &usize| tests[*index].key.clone();
    let close = |index: &usize| {
        let test = &tests[*index];
        let may = test.pure_user || test.follows != Follows::NotTheClock || !common.read;
        may && !test.significant && !test.is_undetermined() && (test.log - common.log).abs() <= by.band
    };
    let explains = |keep: bool| (0..tests.len()).filter(move |&i| tests[i].pure_user == keep && !tests[i].on_curve);
    let active = common.log != 0.0;
    let clock = clock_evidence(by.runs.0, by.runs.1);
    let is_clock = common.is_clock;
    let limit = by.evidence.limit.filter(|limit| active && limit.explains(common.log));
    let rivals = if active { rivals(by, tests, common.log, clock.as_ref(), is_clock) } else { Vec::new() };
    let first = limit.map(|limit| limit_cause(limit, tests, &pure, common, rivals.clone(), by.z));
    let mut rivals =
        if is_clock { by.evidence.disturbed.filter(|_| active).cloned().into_iter().collect() } else { rivals };
    rivals.extend(limit.map(|limit| Rival {
        title: CPU_LIMIT.to_owned(),
        because: vec![limit.because.clone()],
        but: Vec::new(),
    }));
    let factor = CommonFactor {
        value: common.log.exp(),
        low: common.interval.map(|i| i.0.exp()),
        high: common.interval.map(|i| i.1.exp()),
        median: common.median.map(f64::exp),
        from: pure.iter().map(key).collect(),
        explains: if active { explains(true).filter(close).map(|i| key(&i)).collect() } else { Vec::new() },
        follows: if active { explains(false).filter(close).map(|i| key(&i)).collect() } else { Vec::new() },
        clock_ratio: clock.as_ref().map(|clock| clock.ratio),
        clock_seen: clock.as_ref().is_some_and(|clock| clock.seen),
        is_clock,
        because: if is_clock { of_the_clock(by.evidence.differences) } else { Vec::new() },
        rivals,
    };
    (first, factor)
}

/// Differing facts on the clock and on the CPU.
fn of_the_clock(differences: &[RunDifference]) -> Vec<RunDifference> {
    let differs = |difference: &&RunDifference| core_rules().any(|rule| rule.names(difference));
    differences.iter().filter(differs).cloned().collect()
}

/// Known causes that affect all work in user mode.
fn core_rules() -> impl Iterator<Item = &'static Rule> {
    let touches = |rule: &&Rule| rule.touches(Primitive::CoreClock) && rule.parameters.is_empty();
    RULES.iter().filter(touches).filter(|rule| rule.title != NEIGHBOUR)
}

/// Other possible reasons for the common factor: disturbances of the runs, then differing facts that affect everything
/// in user mode, with the clocks' evidence. If the clocks agree, they are the rival.
fn rivals(
    by: &Judging<'_>,
    tests: &[ExplainedResult],
    log: f64,
    clock: Option<&ClockEvidence>,
    is_clock: bool,
) -> Vec<Rival> {
    let but = clock.map(|clock| {
        let whose = if clock.seen { "the measured clocks" } else { "the nominal clocks" };
        format!("{whose} give {}", change(clock.ratio, 1))
    });
    let mut found: Vec<Rival> = by.evidence.disturbed.cloned().into_iter().collect();
    if is_clock {
        let because = of_the_clock(by.evidence.differences);
        found.push(Rival { title: "the clock".to_owned(), because, but: Vec::new() });
        return found;
    }
    found.extend(neighbour(by.evidence.differences, tests, log));
    for rule in core_rules() {
        let differs = |d: &&RunDifference| d.kind == DifferenceKind::Fact && rule.names(d);
        let because: Vec<RunDifference> = by.evidence.differences.iter().filter(differs).cloned().collect();
        if !because.is_empty() {
            found.push(Rival { title: rule.title.to_owned(), because, but: but.iter().cloned().collect() });
        }
    }
    found
}

/// Another thread on the core as the reason for the factor. Both runs recorded its share, the slower one has more of
/// it, and some results in user mode include batches with it.
fn neighbour(differences: &[RunDifference], tests: &[ExplainedResult], log: f64) -> Option<Rival> {
    let rule = RULES.iter().find(|rule| rule.title == NEIGHBOUR)?;
    let because = differences.iter().find(|difference| rule.names(difference))?;
    let right_way = rule.slower_b(because).is_some_and(|slower| slower == (log > 0.0));
    let user = || tests.iter().filter(|test| test.pure_user);
    let reached = user().filter(|test| reaches(rule, test)).count();
    let but = (reached < user().count()).then(|| "results that it cannot affect changed as well".to_owned());
    let rival = Rival { title: rule.title.to_owned(), because: vec![because.clone()], but: but.into_iter().collect() };
    (right_way && reached > 0).then_some(rival)
}

fn limit_cause(
    limit: &LimitEvidence,
    tests: &[ExplainedResult],
    pure: &[usize],
    common: &CommonFactorFit,
    rivals: Vec<Rival>,
    z: f64,
) -> Cause {
    let group = CauseGroup {
        because: vec![limit.because.clone()],
        rule: RULES.iter().find(|rule| rule.title == CPU_LIMIT),
        rivals,
        ..CauseGroup::of(vec![Primitive::CoreClock], *pure.first().unwrap_or(&0), pure.to_vec())
    };
    // The limit explains the factor, so nothing is removed.
    let whole: Vec<ExplainedResult> =
        tests.iter().map(|test| ExplainedResult { removed: 0.0, ..test.clone() }).collect();
    let mut made = cause(&group, &whole, &[], z);
    CPU_LIMIT.clone_into(&mut made.title);
    made.factor = common.log.exp();
    made.slowdown = made.factor;
    made.explained = common.log.abs() * pure.len() as f64;
    made
}
