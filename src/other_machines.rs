//! The same results on other machines, against which the results of a run are ranked.

use std::collections::{HashMap, HashSet};

use model::{BenchmarkResult, Definition, ResultKey, Run};
use store::{Detail, Store};

/// Machines of the store that are read: the newest.
const MACHINES: usize = 200;

/// For every result of a run, one value for each other machine: of its newest run in the store, and of the published
/// evaluations. A result of another definition is left out.
pub(crate) fn values(store: Option<&dyn Store>, run: &Run) -> HashMap<ResultKey, Vec<f64>> {
    let mut values: HashMap<ResultKey, Vec<f64>> = HashMap::new();
    // Ranks are context: whatever cannot be read is left out, and the run is shown.
    let mut stored = store.map(|store| newest(store, run)).unwrap_or_default();
    let own: HashSet<&str> = run.results.iter().map(|result| result.benchmark.as_str()).collect();
    let published = import::published::list().unwrap_or_default();
    for listing in published {
        stored.extend(import::published::get(&listing.name, benchmarks::catalogue()).unwrap_or_default());
    }
    let mut counted: HashSet<(String, ResultKey)> = HashSet::new();
    for other in stored.iter().filter(|other| other.id != run.id) {
        for result in other.results.iter().filter(|result| own.contains(result.benchmark.as_str())) {
            let same =
                |one: &&BenchmarkResult| one.parameters == result.parameters && one.benchmark == result.benchmark;
            let Some(mine) = run.results.iter().find(same) else { continue };
            if matches!(mine.definition.between(&result.definition), Definition::Other(_)) {
                continue;
            }
            let Some(estimate) = result.outcome.estimate().filter(|_| mine.metric.unit == result.metric.unit) else {
                continue;
            };
            // A published evaluation that was imported counts once.
            if counted.insert((machine(other), result.key())) {
                values.entry(result.key()).or_default().push(estimate.value);
            }
        }
    }
    values
}

/// Identity of a machine: the fingerprint, or the name in a document.
fn machine(run: &Run) -> String {
    run.machine_identity().unwrap_or(&run.machine.name).to_owned()
}

/// The newest run of every other machine in the store.
fn newest(store: &dyn Store, run: &Run) -> Vec<Run> {
    let mut summaries = store.summaries().unwrap_or_default();
    summaries.sort_by_key(|summary| std::cmp::Reverse(summary.number));
    let mut known: HashSet<String> = HashSet::from([machine(run)]);
    summaries.retain(|summary| {
        let name = if summary.fingerprint.is_empty() { &summary.machine } else { &summary.fingerprint };
        summary.measured > 0 && known.insert(name.clone())
    });
    summaries.iter().take(MACHINES).filter_map(|summary| store.get(&summary.id, Detail::Values).ok()).collect()
}
