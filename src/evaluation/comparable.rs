//! Published results at the sets of parameters of today's suites. If a source does not state a parameter, the suite
//! that continues its tables supplies the value, and the result says so.

use anyhow::Result;
use import::published::PublishedEvaluation;
use model::{BenchmarkResult, Parameters, ResultKey, Run};
use report::view::Slot;

use super::filled;

/// The machines behind a name that begins with `published:`, comparable with a run of today.
///
/// # Errors
/// When there is no such evaluation or machine, or its folder is damaged.
pub(crate) fn published(name: &str) -> Result<Vec<Run>> {
    let mut runs = import::published::get(name, benchmarks::catalogue())?;
    let evaluation = name.rsplit_once('/').and_then(|(evaluation, _)| import::published::find(evaluation).ok());
    let evaluation = evaluation.map_or_else(|| import::published::find(name), Ok)?;
    let keys = measured(&evaluation)?;
    for run in &mut runs {
        place(run, &keys, &evaluation.description.source);
    }
    Ok(runs)
}

/// The results that the suites of an evaluation measure.
fn measured(evaluation: &PublishedEvaluation) -> Result<Vec<ResultKey>> {
    let mut keys = Vec::new();
    for suite in &evaluation.description.suites {
        let view = filled(suite, evaluation)?;
        keys.extend(super::slots(&view.tables).filter_map(|slot| match slot {
            Slot::Result(key, _) => Some(key.clone()),
            _ => None,
        }));
    }
    Ok(report::words::distinct(keys))
}

/// Completes the sets of parameters of a run's results where exactly one measured result agrees with all that the
/// source states.
fn place(run: &mut Run, keys: &[ResultKey], source: &str) {
    let mut taken: Vec<ResultKey> = run.results.iter().map(BenchmarkResult::key).collect();
    for result in &mut run.results {
        let stated = |key: &&ResultKey| {
            key.benchmark == result.benchmark
                && result.parameters.iter().all(|(parameter, value)| key.parameters.get(parameter) == Some(value))
        };
        let mut agreeing = keys.iter().filter(stated);
        let (Some(key), None) = (agreeing.next(), agreeing.next()) else { continue };
        let added: Vec<String> = key
            .parameters
            .iter()
            .filter(|(parameter, _)| result.parameters.get(parameter).is_none())
            .map(|(parameter, value)| format!("{parameter}={value}"))
            .collect();
        if added.is_empty() || taken.contains(key) {
            continue;
        }
        taken.push(key.clone());
        let benchmark = benchmarks::describe(&result.benchmark);
        let told = |parameters: &Parameters| {
            benchmark.as_ref().map(|benchmark| benchmark.definition(source, parameters)).unwrap_or_default()
        };
        if result.definition == told(&result.parameters) {
            result.definition = told(&key.parameters);
        }
        result.parameters = key.parameters.clone();
        result.notes.push(format!("not stated by the source, set as in today's suite: {}", added.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use model::Definition;

    use super::*;

    /// Printed results without a matching key today, with the reason.
    const ALONE: [(&str, &str); 7] = [
        (
            "cpu.arithmetic:type=register",
            "compilers place variables themselves: today's type=int is the partner of `int`",
        ),
        ("cpu.dhrystone:registers=yes", "the same: today's is the partner of the row without register variables"),
        ("file.read:seconds=30", "today's does not depend on the time: it is the partner of the row of 10 seconds"),
        ("file.write:seconds=30", "the same"),
        ("file.copy:seconds=30", "the same"),
        ("ipc.tcp_bandwidth:network=10base2", "one machine's loopback, printed in both rows of its networks"),
        ("ipc.tcp_bandwidth:network=100baseT", "the same"),
    ];

    #[test]
    fn every_printed_result_that_is_measured_today_has_its_key() {
        let (mut unpaired, mut seen) = (Vec::new(), std::collections::BTreeSet::new());
        for evaluation in PublishedEvaluation::all().unwrap() {
            let keys = measured(&evaluation).unwrap();
            for run in published(&format!("published:{}", evaluation.name)).unwrap() {
                for result in &run.results {
                    let known = benchmarks::find(&result.benchmark).is_some();
                    let name = result.key().to_string();
                    if ALONE.iter().any(|(key, _)| *key == name) {
                        seen.insert(name);
                    } else if known && !keys.contains(&result.key()) && !unpaired.contains(&name) {
                        unpaired.push(name);
                    }
                }
            }
        }
        assert!(seen.len() == ALONE.len(), "no longer printed: of {ALONE:?} there are {seen:?}");
        assert!(unpaired.is_empty(), "no run of today has these keys: {unpaired:#?}");
    }

    #[test]
    fn printed_results_say_how_they_stand_to_those_of_today() {
        let all = |name: &str| published(&format!("published:{name}")).unwrap();
        let definition = |name: &str, key: &str| {
            let runs = all(name);
            let found = runs.iter().flat_map(|run| &run.results).find(|result| result.key().to_string() == key);
            found.unwrap_or_else(|| panic!("{name} prints no {key}")).definition.clone()
        };
        let near = |name: &str, key: &str| matches!(definition(name, key), Definition::Near(_));
        assert!(near("babar-cpu-1998", "os.fork_exec:linking=dynamic,program=hello"));
        assert!(definition("babar-cpu-1998", "os.syscall_write").is_same());
        assert!(definition("babar-cpu-1998", "ipc.rpc_udp_latency:messages=library,placement=same_cpu").is_same());
        assert!(near("babar-cpu-1998", "file.create:size=0B,durability=none,place=target"));
        assert!(near("cyberlife-2004", "os.exec:linking=dynamic"));
        assert!(near("cyberlife-2004", "shell.compile:program=small,placement=free"));
        assert!(near("cyberlife-2004", "file.write:buffer=1KiB,place=target,durability=fsync"));
        assert!(near("cyberlife-2004", "cpu.dhrystone"), "another language");
        // Only results of applications have another definition when measured again, because a source's program is its
        // own.
        for evaluation in PublishedEvaluation::all().unwrap() {
            let keys = measured(&evaluation).unwrap();
            for result in
                all(&evaluation.name).iter().flat_map(|run| &run.results).filter(|one| keys.contains(&one.key()))
            {
                if result.family() == "application" {
                    continue;
                }
                assert!(!matches!(result.definition, Definition::Other(_)), "{}: {}", evaluation.name, result.key());
            }
        }
    }
}
