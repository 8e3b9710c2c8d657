//! Matches results of two runs whose points differ.

use std::collections::BTreeSet;

use model::{BenchmarkResult, Definition, Point, ResultKey, Run};

use compare::{Error, differing_axes};

/// Axes on which results of the two runs differ while nothing else does: a result that B lacks has exactly one partner
/// of the same benchmark there, which A lacks, and which differs on that one axis.
pub(crate) fn axes_that_differ(a: &Run, b: &Run) -> Vec<String> {
    let alone = |x: &Run, y: &Run| -> Vec<BenchmarkResult> {
        let has = |result: &BenchmarkResult| {
            y.results.iter().any(|f| f.benchmark == result.benchmark && f.point == result.point)
        };
        x.results.iter().filter(|result| !has(result)).cloned().collect()
    };
    let (only_a, only_b) = (alone(a, b), alone(b, a));
    let mut axes: Vec<String> = Vec::new();
    for result in &only_a {
        let partners: Vec<String> = only_b
            .iter()
            .filter(|other| other.benchmark == result.benchmark)
            .filter_map(|other| match differing_axes(&result.point, &other.point).as_slice() {
                [axis] => Some(axis.clone()),
                _ => None,
            })
            .collect();
        if let [axis] = partners.as_slice()
            && !axes.contains(axis)
        {
            axes.push(axis.clone());
        }
    }
    axes
}

/// The run with only those results that have the values of `at` on the axes that they share with it.
///
/// # Errors
/// When no result has one of the values: nothing would be restricted, or everything.
pub(crate) fn restricted(run: &Run, at: &Point) -> Result<Run, Error> {
    let values = |axis: &str| run.results.iter().filter_map(|result| result.point.get(axis)).collect::<BTreeSet<_>>();
    for (axis, asked) in at.iter() {
        let there = values(axis);
        if !there.iter().any(|value| Point::means(axis, asked, value)) {
            let list = |words: Vec<&str>| words.join(", ");
            let axes: BTreeSet<&str> = run.results.iter().flat_map(|result| result.point.iter().map(|p| p.0)).collect();
            let known = match there.is_empty() {
                true => format!("its results have the axes {}", list(axes.into_iter().collect())),
                false => format!("{axis} is {} there", list(there.into_iter().collect())),
            };
            return Err(Error::At { asked: format!("{axis}={asked}"), known });
        }
    }
    let stands = |result: &BenchmarkResult| {
        at.iter().all(|(axis, asked)| result.point.get(axis).is_none_or(|v| Point::means(axis, asked, v)))
    };
    let results = run.results.iter().filter(|result| stands(result)).cloned().collect();
    Ok(Run { results, ..run.clone() })
}

/// The runs without results that are another quantity than the one of that name in the other run: nothing of one
/// explains the other.
pub(crate) fn of_one_definition(mut a: Run, mut b: Run) -> (Run, Run) {
    let other = |result: &BenchmarkResult, run: &Run| {
        let partner = run.results.iter().find(|one| one.benchmark == result.benchmark && one.point == result.point);
        partner.is_some_and(|one| matches!(result.definition.between(&one.definition), Definition::Other(_)))
    };
    let others: BTreeSet<ResultKey> =
        a.results.iter().filter(|result| other(result, &b)).map(BenchmarkResult::key).collect();
    for run in [&mut a, &mut b] {
        run.results.retain(|result| !others.contains(&result.key()));
    }
    (a, b)
}
