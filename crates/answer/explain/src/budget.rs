//! Which excess explains which test. The number of units of one cause that would explain a test is compared with the
//! number that it uses.

use model::Primitive;

use super::result::SlowestMeasured;
use super::test::ExplainedResult;

/// A needed count may exceed the known one by this factor, since counts are rounded and excesses have errors.
const SLACK: f64 = 1.25;
/// Least share of a test's excess that several units together must explain.
const SHARE: f64 = 0.8;

/// The excess of a system call may be this many times another whole one: what both contain cannot have moved by more
/// than all of one of them.
const WHOLE: f64 = 2.0;

/// How a significant test is explained.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CauseCost {
    /// It measures its own primitive, and nothing smaller explains it.
    Own,
    /// By units of another test: index of that test, units needed.
    ExplainedBy(usize, f64),
    /// Its own count contradicts its time, so that its unit is doubtful.
    Doubtful(String),
    /// A mixture that nothing measured explains, slower than the slowest primitive.
    Unmeasured,
    /// A mixture without an explanation by counts, though the bound does not exclude one.
    Open(String),
}

/// The test that gives a primitive's excess: among its significant tests that are not mixtures, the one with the
/// shortest operation. On curves it is the one nearest to the median.
pub(crate) fn unit_of(tests: &[ExplainedResult], primitive: Primitive) -> Option<usize> {
    let of_primitive = |index: &usize| {
        let test = &tests[*index];
        let own = test.primitive == primitive && test.significant && !test.composite && test.parameters.is_empty();
        own && contradiction(tests, test).is_none()
    };
    let mut members: Vec<usize> = (0..tests.len()).filter(of_primitive).collect();
    if members.iter().any(|&index| tests[index].on_curve) {
        members.sort_by(|&a, &b| tests[a].residual.total_cmp(&tests[b].residual));
        return members.get(members.len() / 2).copied();
    }
    members.into_iter().min_by(|&a, &b| tests[a].time_a.total_cmp(&tests[b].time_a))
}

/// The explanation of each significant test without a differing parameter; `None` for the others.
pub(crate) fn costs(tests: &[ExplainedResult]) -> Vec<Option<CauseCost>> {
    let units: Vec<usize> = Primitive::ALL.iter().filter_map(|&primitive| unit_of(tests, primitive)).collect();
    let slowest = slowest(tests);
    tests
        .iter()
        .map(|test| (test.significant && test.parameters.is_empty()).then(|| bill(test, tests, &units, slowest)))
        .collect()
}

fn bill(
    test: &ExplainedResult,
    tests: &[ExplainedResult],
    units: &[usize],
    slowest: Option<SlowestMeasured>,
) -> CauseCost {
    let excess = test.excess();
    let mut offers: Vec<(usize, f64, f64)> = Vec::new();
    for &index in units {
        let unit = &tests[index];
        let unit_excess = unit.excess();
        let smaller = unit.time_a < test.time_a && unit.primitive != test.primitive;
        let Some(count) = test.uses.count(unit.primitive).filter(|count| *count > 0.0 && smaller) else {
            if let Some(doubt) = doubt(test, unit) {
                return CauseCost::Doubtful(doubt);
            }
            continue;
        };
        if excess * unit_excess > 0.0 {
            offers.push((index, excess / unit_excess, count));
        }
    }
    let alone = offers.iter().filter(|(_, needed, count)| *needed <= count * SLACK);
    let most = |offer: &&(usize, f64, f64)| offer.2 / offer.1;
    if let Some(best) = alone.max_by(|a, b| most(a).total_cmp(&most(b))) {
        return CauseCost::ExplainedBy(best.0, best.1);
    }
    let together: f64 = offers.iter().map(|(_, needed, count)| count / needed).sum();
    if together >= SHARE
        && let Some(best) = offers.iter().max_by(|a, b| most(a).total_cmp(&most(b)))
    {
        return CauseCost::ExplainedBy(best.0, best.1);
    }
    if !test.composite {
        return contradiction(tests, test).map_or(CauseCost::Own, |other| CauseCost::Doubtful(doubtful(test, other)));
    }
    match slowest {
        Some(slowest) if surely_slower(test, slowest.at_most) => CauseCost::Unmeasured,
        None => CauseCost::Unmeasured,
        Some(SlowestMeasured { primitive, .. }) => CauseCost::Open(format!(
            "no known count of operations accounts for it, though {primitive} may have changed as much"
        )),
    }
}

/// Whether a mixture is slower than by this factor, at the lower end of its interval if spread is known.
fn surely_slower(test: &ExplainedResult, factor: f64) -> bool {
    let least = test.log - 2.0 * test.error.unwrap_or(0.0);
    least > factor.ln().max(0.0)
}

/// The shortest system call, if a longer one's excess is more than all of it and it has not moved itself. Then a part
/// of the longer one has slowed, not the entry that both contain. For other primitives a placement or a size may have
/// all the cost.
fn contradiction<'a>(tests: &'a [ExplainedResult], test: &ExplainedResult) -> Option<&'a ExplainedResult> {
    if test.primitive != Primitive::SyscallEntry {
        return None;
    }
    let calls = tests.iter().filter(|other| other.primitive == test.primitive && !other.composite);
    let shortest = calls.min_by(|a, b| whole(a).total_cmp(&whole(b)))?;
    let moved_too = shortest.significant && shortest.residual * test.residual > 0.0;
    (!moved_too && test.excess().abs() > WHOLE * whole(shortest)).then_some(shortest)
}

/// Seconds of the slower side.
const fn whole(test: &ExplainedResult) -> f64 {
    test.time_a.max(test.time_b)
}

fn doubtful(test: &ExplainedResult, other: &ExplainedResult) -> String {
    format!(
        "its {} is more than all of {} takes ({}), so that it is no {}",
        model::words::seconds(test.excess().abs()),
        other.key,
        model::words::seconds(whole(other)),
        test.primitive
    )
}

/// A mixture that takes less time than the operations that it needs.
fn doubt(test: &ExplainedResult, unit: &ExplainedResult) -> Option<String> {
    let count =
        test.uses.count(unit.primitive).filter(|count| *count >= 1.0 && test.composite && !test.uses.measured)?;
    (count * unit.time_a > test.time_a && unit.primitive == Primitive::Exec).then(|| {
        format!(
            "its unit is doubtful: one {} would take {}, less than the {} it needs ({})",
            test.per,
            model::words::seconds(test.time_a),
            unit.per,
            model::words::seconds(unit.time_a)
        )
    })
}

/// The primitive whose slowdown may be the greatest of all that were measured on their own.
pub(crate) fn slowest(tests: &[ExplainedResult]) -> Option<SlowestMeasured> {
    let single = tests.iter().filter(|test| !test.composite && test.parameters.is_empty());
    let most = |test: &ExplainedResult| test.log + 2.0 * test.error.unwrap_or(0.0);
    let slowest = single.max_by(|a, b| most(a).total_cmp(&most(b)))?;
    let (slowdown, at_most) = (slowest.log.exp(), most(slowest).exp());
    Some(SlowestMeasured { primitive: slowest.primitive, slowdown, at_most })
}
