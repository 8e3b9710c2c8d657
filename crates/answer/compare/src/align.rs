//! Matches the results of several runs.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::{BEYOND_CACHES, BenchmarkResult, Parameters, ResultKey, Run};

use super::glob::matches;
use super::options::CompareOptions;
use crate::Error;
use crate::shown_clock::is_condition;

/// One result in every run, in the order of the runs.
pub(crate) struct Aligned<'a> {
    pub(crate) key: ResultKey,
    pub(crate) results: Vec<Option<&'a BenchmarkResult>>,
}

impl<'a> Aligned<'a> {
    /// The result that gives title and metric: the reference's, else the first.
    pub(crate) fn model(&self, reference: usize) -> &'a BenchmarkResult {
        let first = self.results[reference].or_else(|| self.results.iter().flatten().copied().next());
        #[expect(clippy::expect_used, reason = "a row is made for a result that a run has")]
        first.expect("a row holds at least one result")
    }
}

/// Results that at least two runs have, and those that only one run has.
pub(crate) struct Alignment<'a> {
    pub(crate) rows: Vec<Aligned<'a>>,
    /// Conditions of the machines during the runs, such as the clock; they are not results.
    pub(crate) conditions: Vec<Aligned<'a>>,
    pub(crate) unmatched: Vec<(usize, ResultKey)>,
}

/// Aligns results with the same name, in the reference's order first. For a single run, every result is a row.
pub(crate) fn align<'a>(runs: &[&'a Run], reference: usize, options: &CompareOptions) -> Result<Alignment<'a>, Error> {
    let mut order: Vec<usize> = vec![reference];
    order.extend((0..runs.len()).filter(|&run| run != reference));
    known_parameters(runs, &options.across)?;
    let keys = row_keys(runs, &options.across);
    let mut rows: Vec<Aligned<'a>> = Vec::new();
    let mut place: HashMap<&ResultKey, usize> = HashMap::new();
    for &run in &order {
        for (result, key) in runs[run].results.iter().zip(&keys[run]) {
            if options.results.as_ref().is_some_and(|patterns| !selected(patterns, result, key)) {
                continue;
            }
            let row = *place.entry(key).or_insert_with(|| {
                rows.push(Aligned { key: key.clone(), results: vec![None; runs.len()] });
                rows.len() - 1
            });
            rows[row].results[run] = Some(result);
        }
    }
    if rows.is_empty() {
        return Err(nothing(runs, options));
    }
    let alone = |row: &Aligned| runs.len() > 1 && row.results.iter().flatten().count() < 2;
    let (single, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(alone);
    let (conditions, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| is_condition(&row.key.benchmark));
    if rows.is_empty() && runs.len() > 1 {
        return Err(Error::NothingInCommon { hint: hint(&single) });
    }
    let unmatched = single
        .into_iter()
        .filter_map(|row| row.results.iter().position(Option::is_some).map(|run| (run, row.key)))
        .collect();
    Ok(Alignment { rows, conditions, unmatched })
}

fn selected(patterns: &str, result: &BenchmarkResult, key: &ResultKey) -> bool {
    matches(patterns, key) || matches(patterns, &result.key())
}

/// Refuses a parameter to compare across that is in no result, which would silently have no effect.
fn known_parameters(runs: &[&Run], across: &[String]) -> Result<(), Error> {
    if across.is_empty() {
        return Ok(());
    }
    let results = runs.iter().flat_map(|run| &run.results);
    let known: BTreeSet<&str> =
        results.flat_map(|result| result.parameters.iter().map(|(parameter, _)| parameter)).collect();
    match across.iter().find(|parameter| !known.contains(parameter.as_str())) {
        Some(parameter) => {
            Err(Error::Across { parameter: parameter.clone(), known: known.into_iter().collect::<Vec<_>>().join(", ") })
        }
        None => Ok(()),
    }
}

/// Results whose sizes of memory follow each machine and differ between runs: they are the same result, "beyond the
/// caches". If they are equal, they keep that size; a run with several of them names each one.
struct MovedSizes(HashSet<ResultKey>);

impl MovedSizes {
    fn of(runs: &[&Run]) -> Self {
        if runs.iter().all(|run| run.results.iter().all(|result| result.stands_for.is_none())) {
            return Self(HashSet::new());
        }
        let mut points: HashMap<ResultKey, HashSet<&Parameters>> = HashMap::new();
        let mut several: HashSet<ResultKey> = HashSet::new();
        for run in runs {
            let mut here: HashSet<ResultKey> = HashSet::new();
            for result in &run.results {
                let usual = usual(result);
                points.entry(usual.clone()).or_default().insert(&result.parameters);
                if !here.insert(usual.clone()) {
                    several.insert(usual);
                }
            }
        }
        let differ = points.into_iter().filter(|(usual, points)| points.len() > 1 && !several.contains(usual));
        Self(differ.map(|(usual, _)| usual).collect())
    }

    /// The name of a result before parameters are left out.
    fn name(&self, result: &BenchmarkResult) -> ResultKey {
        let usual = usual(result);
        if self.0.contains(&usual) {
            ResultKey::new(usual.benchmark, usual.parameters.with("working_set", BEYOND_CACHES))
        } else {
            result.key()
        }
    }
}

/// A result under its usual parameters.
fn usual(result: &BenchmarkResult) -> ResultKey {
    ResultKey::new(result.benchmark.clone(), result.stands_for.clone().unwrap_or_else(|| result.parameters.clone()))
}

/// The name under which each result is matched. Parameters of `across` are left out unless two results of a run would
/// then have the same name.
fn row_keys(runs: &[&Run], across: &[String]) -> Vec<Vec<ResultKey>> {
    let sizes = MovedSizes::of(runs);
    let named = |result: &BenchmarkResult| sizes.name(result);
    if across.is_empty() {
        return runs.iter().map(|run| run.results.iter().map(named).collect()).collect();
    }
    let stripped = |result: &BenchmarkResult| {
        let key = named(result);
        ResultKey::new(
            key.benchmark,
            across.iter().fold(key.parameters, |parameters: Parameters, parameter| parameters.without(parameter)),
        )
    };
    let mut most: HashMap<ResultKey, usize> = HashMap::new();
    for run in runs {
        let mut here: HashMap<ResultKey, usize> = HashMap::new();
        for result in &run.results {
            *here.entry(stripped(result)).or_default() += 1;
        }
        for (key, count) in here {
            let most = most.entry(key).or_default();
            *most = count.max(*most);
        }
    }
    let name = |result: &BenchmarkResult| {
        let key = stripped(result);
        if most[&key] > 1 { named(result) } else { key }
    };
    runs.iter().map(|run| run.results.iter().map(name).collect()).collect()
}

/// Names that an error message lists.
const LISTED: usize = 6;

fn nothing(runs: &[&Run], options: &CompareOptions) -> Error {
    match &options.results {
        Some(pattern) => Error::NoMatch { pattern: pattern.clone(), known: known(runs) },
        None => Error::NothingInCommon { hint: "; they hold no result at all".to_owned() },
    }
}

fn known(runs: &[&Run]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for result in runs.iter().flat_map(|run| &run.results) {
        if !names.contains(&result.benchmark.as_str()) {
            names.push(&result.benchmark);
        }
        if names.len() == LISTED {
            break;
        }
    }
    names.join(", ")
}

/// Names the parameter that would make results match, if there is a single one.
fn hint(single: &[Aligned]) -> String {
    let run = |row: &Aligned| row.results.iter().position(Option::is_some);
    for (index, row) in single.iter().enumerate() {
        for other in &single[index + 1..] {
            if other.key.benchmark == row.key.benchmark
                && run(other) != run(row)
                && let [parameter] = differing_parameters(&row.key.parameters, &other.key.parameters).as_slice()
            {
                return format!(
                    ": {} differs in {parameter} alone; --across {parameter} sets it side by side",
                    row.key.benchmark
                );
            }
        }
    }
    String::new()
}

/// Parameters on which two sets of parameters differ, including those that only one of them has.
#[must_use]
pub fn differing_parameters(a: &Parameters, b: &Parameters) -> Vec<String> {
    let mut parameters: Vec<String> = a
        .iter()
        .filter(|(parameter, value)| b.get(parameter) != Some(value))
        .map(|(parameter, _)| parameter.to_owned())
        .collect();
    parameters.extend(
        b.iter().filter(|(parameter, _)| a.get(parameter).is_none()).map(|(parameter, _)| parameter.to_owned()),
    );
    parameters
}

#[cfg(test)]
mod tests {
    use model::{Class, Metric, Unit};

    use super::*;

    fn run(sizes: &[(&str, Option<&str>)]) -> Run {
        let mut run = model::parse_run(
            r#"{"schema":1,"id":"r","machine":{"name":"m"},"session":{"started":"2026-11-21T00:00:00Z"},
            "plan":{"suite":"default","seed":1,"level":0.95,"target":0.02,"checkpoints":[10],"batches":20,"batch_nanos":1000000,"band":0.02,"entries":[]},"results":[]}"#,
        )
        .unwrap();
        let parameters = |size: &str| format!("working_set={size},threads=1").parse::<Parameters>().unwrap();
        let result = |(size, usual): &(&str, Option<&str>)| BenchmarkResult {
            stands_for: usual.map(parameters),
            ..BenchmarkResult::unmeasured(
                ResultKey::new("memory.copy", parameters(size)),
                "copy",
                Metric::higher(Unit::BytesPerSecond, "bytes copied"),
                Class::Bandwidth,
            )
        };
        run.results = sizes.iter().map(result).collect();
        run
    }

    fn rows(runs: [&Run; 2]) -> Vec<(String, usize)> {
        let found = align(&runs, 0, &CompareOptions::default()).map_or_else(|_| Vec::new(), |found| found.rows);
        found.iter().map(|row| (row.key.parameters.to_string(), row.results.iter().flatten().count())).collect()
    }

    #[test]
    fn sizes_that_follow_the_machine_are_one_result_where_they_differ() {
        let usual = run(&[("256MiB", None)]);
        let moved = run(&[("2GiB", Some("256MiB"))]);
        let asked = run(&[("2GiB", None)]);
        let beyond = ("working_set=beyond_caches,threads=1".to_owned(), 2);
        assert_eq!(rows([&usual, &moved]), std::slice::from_ref(&beyond));
        assert_eq!(rows([&moved, &usual]), [beyond]);
        assert_eq!(rows([&moved, &moved]), [("working_set=2GiB,threads=1".to_owned(), 2)], "equal sizes are that size");
        assert_eq!(rows([&moved, &asked]), [("working_set=2GiB,threads=1".to_owned(), 2)]);
        assert!(rows([&usual, &asked]).is_empty(), "a size that was asked for stands for nothing else");
        let both = run(&[("256MiB", None), ("2GiB", Some("256MiB"))]);
        assert_eq!(rows([&both, &usual]), [("working_set=256MiB,threads=1".to_owned(), 2)]);
    }
}
