//! The key results: the few by which machines are usually told apart, in the order in which they are read.

use std::collections::HashSet;

use model::{BenchmarkResult, Catalogue, KeyResult, Outcome, Run};

use crate::words::result_label;

/// Fewest lines that stand for a run; of one with fewer, the first results of each benchmark are shown.
const LEAST: usize = 4;

/// Most lines; a run with no more results is shown whole.
const MOST: usize = 9;

const fn valued(result: &BenchmarkResult) -> bool {
    matches!(result.outcome, Outcome::Measured(_) | Outcome::Below { .. } | Outcome::Modes(_))
}

/// The key results of a run with their titles: of each line the first candidate that has a value, else the first that
/// was requested, which says why it has none. A title never claims more than the result is.
#[must_use]
pub fn key_results<'a>(run: &'a Run, catalogue: &Catalogue) -> Vec<(String, &'a BenchmarkResult)> {
    let requested: Vec<&BenchmarkResult> = run.results.iter().filter(|result| !result.is_condition()).collect();
    let keys = |benchmark: &str| catalogue.get(benchmark).map_or(&[][..], |benchmark| &benchmark.key);
    let meets = |result: &BenchmarkResult, key: &KeyResult| {
        key.at.iter().all(|(parameter, at)| result.parameters.get(parameter) == Some(at))
    };
    let mut found: Vec<(&KeyResult, &BenchmarkResult)> = Vec::new();
    for result in &requested {
        found.extend(keys(&result.benchmark).iter().filter(|key| meets(result, key)).map(|key| (key, *result)));
    }
    found.sort_by_key(|(key, result)| (key.rank / 10, !valued(result), key.rank));
    found.dedup_by_key(|(key, _)| key.rank / 10);
    if requested.len() > MOST && found.len() >= LEAST {
        return found.into_iter().take(MOST).map(|(key, result)| (key.title.clone(), result)).collect();
    }
    let whole = requested.len() <= MOST;
    let mut seen: HashSet<&str> = HashSet::new();
    let first = requested.into_iter().filter(|result| whole || seen.insert(&result.benchmark));
    first.take(MOST).map(|result| (result_label(result), result)).collect()
}
