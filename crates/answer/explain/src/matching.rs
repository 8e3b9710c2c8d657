//! Matches results of two runs whose sets of parameters differ.

use std::collections::BTreeSet;

use model::{BenchmarkResult, Definition, Parameters, ResultKey, Run};

use compare::{Error, differing_parameters};

/// Parameters on which results of the two runs differ while nothing else does. A result that B lacks must have exactly
/// one partner of the same benchmark there, which A lacks and which differs on that one parameter.
pub(crate) fn parameters_that_differ(a: &Run, b: &Run) -> Vec<String> {
    let alone = |x: &Run, y: &Run| -> Vec<BenchmarkResult> {
        let has = |result: &BenchmarkResult| {
            y.results.iter().any(|f| f.benchmark == result.benchmark && f.parameters == result.parameters)
        };
        x.results.iter().filter(|result| !has(result)).cloned().collect()
    };
    let (only_a, only_b) = (alone(a, b), alone(b, a));
    let mut parameters: Vec<String> = Vec::new();
    for result in &only_a {
        let partners: Vec<String> = only_b
            .iter()
            .filter(|other| other.benchmark == result.benchmark)
            .filter_map(|other| match differing_parameters(&result.parameters, &other.parameters).as_slice() {
                [parameter] => Some(parameter.clone()),
                _ => None,
            })
            .collect();
        if let [parameter] = partners.as_slice()
            && !parameters.contains(parameter)
        {
            parameters.push(parameter.clone());
        }
    }
    parameters
}

/// The run with only those results that have the values of `at` on the parameters that they share with it.
///
/// # Errors
/// When no result has one of the values: nothing would be restricted, or everything.
pub(crate) fn restricted(run: &Run, at: &Parameters) -> Result<Run, Error> {
    let values = |parameter: &str| {
        run.results.iter().filter_map(|result| result.parameters.get(parameter)).collect::<BTreeSet<_>>()
    };
    for (parameter, asked) in at.iter() {
        let there = values(parameter);
        if !there.iter().any(|value| Parameters::means(parameter, asked, value)) {
            let list = |words: Vec<&str>| words.join(", ");
            let parameters: BTreeSet<&str> =
                run.results.iter().flat_map(|result| result.parameters.iter().map(|p| p.0)).collect();
            let known = match there.is_empty() {
                true => format!("its results have the parameters {}", list(parameters.into_iter().collect())),
                false => format!("{parameter} is {} there", list(there.into_iter().collect())),
            };
            return Err(Error::At { asked: format!("{parameter}={asked}"), known });
        }
    }
    let stands = |result: &BenchmarkResult| {
        at.iter().all(|(parameter, asked)| {
            result.parameters.get(parameter).is_none_or(|v| Parameters::means(parameter, asked, v))
        })
    };
    let results = run.results.iter().filter(|result| stands(result)).cloned().collect();
    Ok(Run { results, ..run.clone() })
}

/// The runs without results that are another quantity than the one of that name in the other run: nothing of one
/// explains the other.
pub(crate) fn of_one_definition(mut a: Run, mut b: Run) -> (Run, Run) {
    let other = |result: &BenchmarkResult, run: &Run| {
        let partner =
            run.results.iter().find(|one| one.benchmark == result.benchmark && one.parameters == result.parameters);
        partner.is_some_and(|one| matches!(result.definition.between(&one.definition), Definition::Other(_)))
    };
    let others: BTreeSet<ResultKey> =
        a.results.iter().filter(|result| other(result, &b)).map(BenchmarkResult::key).collect();
    for run in [&mut a, &mut b] {
        run.results.retain(|result| !others.contains(&result.key()));
    }
    (a, b)
}
