//! From the request to the results to measure.

use benchmarks::{BenchmarkSelection, find, suite};
use model::{Parameters, PlanEntry, glob, nearest};

use crate::Error;

/// The results of a suite, or of benchmarks given as `family.name`, `family.*` or
/// `family.name:parameter=value,parameter=value`. A glob keeps the order of the catalogue, other names the given order.
/// A partial parameters is completed with the default values.
///
/// # Errors
/// When a name or a set of parameters is unknown, with the nearest names, or nothing is selected.
pub fn select(suite_name: Option<&str>, named: &[String], target: f64) -> Result<Vec<PlanEntry>, Error> {
    let mut selections = Vec::new();
    if let Some(name) = suite_name {
        let suite =
            suite(name).ok_or_else(|| unknown("suite", name, benchmarks::SUITES.iter().map(|suite| suite.name)))?;
        selections.extend(suite.selections());
    }
    for text in named {
        selections.extend(by_name(text)?);
    }
    let mut entries: Vec<PlanEntry> = Vec::new();
    for BenchmarkSelection { benchmark, parameters } in selections {
        if entries.iter().all(|entry| entry.benchmark != benchmark.id || entry.parameters != parameters) {
            let shares = benchmark.sharing(&parameters);
            entries.push(PlanEntry { benchmark: benchmark.id.to_owned(), parameters, target, shares });
        }
    }
    if entries.is_empty() { Err(Error::Empty) } else { Ok(entries) }
}

fn by_name(text: &str) -> Result<Vec<BenchmarkSelection>, Error> {
    let (id, parameters) = text.split_once(':').unwrap_or((text, ""));
    let parameters: Parameters =
        parameters.parse().map_err(|error: model::Error| Error::Parameters(error.to_string()))?;
    if id.contains(['*', '?']) {
        let benchmarks: Vec<_> = benchmarks::all().filter(|benchmark| glob(id, benchmark.id)).collect();
        if benchmarks.is_empty() {
            return Err(unknown("benchmark", id, benchmarks::all().map(|benchmark| benchmark.id)));
        }
        // A glob applies to each benchmark the parameters that it has; a parameter that no benchmark has is an error.
        let found: Vec<_> = benchmarks
            .iter()
            .flat_map(|benchmark| {
                benchmark
                    .complete(&parameters)
                    .unwrap_or_default()
                    .into_iter()
                    .map(|parameters| BenchmarkSelection { benchmark, parameters })
            })
            .collect();
        return if found.is_empty() {
            Err(Error::Parameters(format!("no benchmark of {id} can be measured at {parameters}")))
        } else {
            Ok(found)
        };
    }
    let benchmark =
        find(id).ok_or_else(|| unknown("benchmark", id, benchmarks::all().map(|benchmark| benchmark.id)))?;
    let points = benchmark.complete(&parameters).map_err(Error::Parameters)?;
    Ok(points.into_iter().map(|parameters| BenchmarkSelection { benchmark, parameters }).collect())
}

fn unknown<'a>(kind: &'static str, name: &str, names: impl Iterator<Item = &'a str>) -> Error {
    let near = nearest(name, names);
    let all = if kind == "suite" { "prony benchmarks --suite" } else { "prony benchmarks" };
    let near = if near.is_empty() {
        format!(" ({all} lists all)")
    } else {
        format!("; similar: {} ({all} lists all)", near.join(", "))
    };
    Error::Unknown { kind, name: name.to_owned(), near }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_refused_in_one_line() {
        let error = select(Some("quik"), &[], 0.02).unwrap_err().to_string();
        assert_eq!(error, "no suite is named quik; similar: quick (prony benchmarks --suite lists all)");
        assert!(select(None, &[], 0.02).is_err());
    }
}
