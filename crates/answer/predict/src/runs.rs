//! The table of known values, from run documents.

use std::collections::BTreeMap;

use model::{BenchmarkResult, Better, Definition, Footprint, ResultKey, Run};

use super::cpu::{cpu_model, with_class};
use super::error::Error;
use super::family::cpu_family;
use super::near::nearest_names;
use super::table::{PredictedApplication, PredictorColumn, PredictorMachine, PredictorTable};

/// Joins runs to a table: one machine for all runs with one fingerprint (else one name). The application's result is
/// excluded from the predictors together with all its other points and parts. `application` is the id of a result, with
/// its point if it has several, or the name of an application (`NAME` for `application.NAME`). A result in another
/// unit, or of another definition, is a separate column, and no value of the application.
///
/// # Errors
/// When no run has the application, its name matches several results, or runs have it in different units.
pub fn from_runs(runs: &[&Run], application: &str) -> Result<PredictorTable, Error> {
    let key = application_key(runs, application)?;
    let mut table =
        PredictorTable { application: application_of(runs, &key), columns: Vec::new(), machines: Vec::new() };
    let own = definition_of(runs, &key);
    let mut places: BTreeMap<ColumnKey, usize> = BTreeMap::new();
    let mut readings: Vec<BTreeMap<usize, Vec<f64>>> = Vec::new();
    let mut values: Vec<Vec<f64>> = Vec::new();
    let mut identities: Vec<String> = Vec::new();
    for run in runs {
        let identity = identity(run);
        let place = identities.iter().position(|known| *known == identity).unwrap_or_else(|| {
            identities.push(identity);
            table.machines.push(machine_of(run));
            readings.push(BTreeMap::new());
            values.push(Vec::new());
            identities.len() - 1
        });
        table.machines[place].runs.push(run.id.clone());
        for result in &run.results {
            let Some(logarithm) = logarithm(result) else { continue };
            if result.key() == key {
                if matches!(own.between(&result.definition), Definition::Other(_)) {
                    continue;
                }
                if result.metric != table.application.metric {
                    return Err(mixed(result, run));
                }
                values[place].push(logarithm);
            } else if !is_part_of(&result.benchmark, &key.benchmark) {
                let next = places.len();
                let column = *places.entry(column_key(result)).or_insert(next);
                if column == table.columns.len() {
                    table.columns.push(column_of(result));
                }
                readings[place].entry(column).or_default().push(logarithm);
            }
        }
    }
    let width = table.columns.len();
    let facts: Vec<BTreeMap<&'static str, f64>> = identities.iter().map(|identity| facts_of(runs, identity)).collect();
    for ((machine, readings), values) in table.machines.iter_mut().zip(&readings).zip(&values) {
        machine.benchmarks = (0..width).map(|column| readings.get(&column).and_then(|v| stats::median(v))).collect();
        machine.application = stats::median(values);
    }
    add_facts(&mut table, &facts);
    Ok(table)
}

/// A result, and what else two values of one quantity have in common: unit, direction, and the definition where that is
/// another one.
type ColumnKey = (ResultKey, String);

fn column_key(result: &BenchmarkResult) -> ColumnKey {
    let other = match &result.definition {
        Definition::Other(differs) => differs.as_str(),
        Definition::Same | Definition::Near(_) => "",
    };
    (result.key(), format!("{:?} {:?} {other}", result.metric.unit, result.metric.better))
}

/// The definition by which the application is counted: its own, if any run has it.
fn definition_of(runs: &[&Run], key: &ResultKey) -> Definition {
    let definitions = || runs.iter().filter_map(|run| Some(&run.result(key)?.definition));
    let own = definitions().find(|definition| !matches!(definition, Definition::Other(_)));
    own.or_else(|| definitions().next()).cloned().unwrap_or_default()
}

/// Names that are offered for an unknown one.
const NEAR: usize = 4;

/// Facts that predict: their names in runs, and their titles. A later line replaces an earlier one of its title if that
/// is unknown: other tools' outputs state the CPUs that their process has.
const FACTS: [(&str, &str); 9] = [
    ("cpu.cores", "cores"),
    ("cpu.online", "CPUs"),
    ("cpu.count", "CPUs"),
    ("cpu.clock", "clock"),
    ("cpu.clock.max", "top clock"),
    ("cache.l2.size", "L2"),
    ("cache.l3.size", "L3"),
    ("memory.channels", "memory channels"),
    ("cpu.year", "year"),
];
/// Growth of speeds a year, as a logarithm, so that a year counts like a result that doubles in seven years. It only
/// sets the unit, since every method fits its own.
const A_YEAR: f64 = 0.1;

/// Logarithms of a machine's facts, from all its runs, and of what follows from two of them.
fn facts_of(runs: &[&Run], wanted: &str) -> BTreeMap<&'static str, f64> {
    let mut found: BTreeMap<&'static str, f64> = BTreeMap::new();
    let own: Vec<&Run> = runs.iter().copied().filter(|run| identity(run) == wanted).collect();
    for (name, title) in FACTS {
        let known = |run: &&Run| run.machine.number(name).filter(|value| value.is_finite() && *value > 0.0);
        // The latest run's.
        let Some(value) = own.iter().rev().find_map(known) else { continue };
        let year = name == "cpu.year";
        found.entry(title).or_insert(if year { A_YEAR * (value - 2000.0) } else { value.ln() });
    }
    let of = |name: &str| found.get(name).copied();
    let clock = of("top clock").or_else(|| of("clock"));
    let product = clock.zip(of("cores").or_else(|| of("CPUs"))).map(|(clock, cores)| clock + cores);
    let threads = of("CPUs").zip(of("cores")).map(|(threads, cores)| threads - cores);
    found.extend(product.map(|value| ("cores times clock", value)));
    found.extend(threads.map(|value| ("threads of a core", value)));
    found
}

/// Facts as further columns, where at least two machines have them and they differ.
fn add_facts(table: &mut PredictorTable, facts: &[BTreeMap<&'static str, f64>]) {
    let names: std::collections::BTreeSet<&'static str> = facts.iter().flat_map(|own| own.keys().copied()).collect();
    for name in names {
        let values: Vec<Option<f64>> = facts.iter().map(|own| own.get(name).copied()).collect();
        let mut known = values.iter().flatten();
        let first = known.next().copied();
        if !known.any(|value| first.is_some_and(|first| (value - first).abs() > 1e-9)) {
            continue;
        }
        table.columns.push(PredictorColumn {
            name: format!("fact {name}"),
            label: name.to_owned(),
            tool: "facts".to_owned(),
            better: Better::Higher,
            stresses: Vec::new(),
            working_set: None,
            fact: true,
        });
        for (machine, value) in table.machines.iter_mut().zip(values) {
            machine.benchmarks.push(value);
        }
    }
}

/// The logarithm of a result with a valid value.
fn logarithm(result: &BenchmarkResult) -> Option<f64> {
    let value = result.outcome.estimate()?.value;
    (value.is_finite() && value > 0.0).then(|| value.ln())
}

/// Other points of the application and other results of its name measure the same program and are never predictors.
fn is_part_of(benchmark: &str, application: &str) -> bool {
    benchmark == application
        || benchmark.strip_prefix(application).is_some_and(|rest| rest.starts_with(['.', '_']))
        || application.strip_prefix(benchmark).is_some_and(|rest| rest.starts_with(['.', '_']))
}

fn application_key(runs: &[&Run], name: &str) -> Result<ResultKey, Error> {
    let mut keys: Vec<ResultKey> =
        runs.iter().flat_map(|run| &run.results).filter(|f| logarithm(f).is_some()).map(BenchmarkResult::key).collect();
    keys.sort();
    keys.dedup();
    let prefixed = format!("application.{name}");
    for wanted in [name, prefixed.as_str()] {
        let exact: Vec<&ResultKey> = keys.iter().filter(|key| key.to_string() == wanted).collect();
        let found = if exact.is_empty() { keys.iter().filter(|key| key.benchmark == wanted).collect() } else { exact };
        match found.as_slice() {
            [] => {}
            [one] => return Ok((*one).clone()),
            many => return Err(Error::Ambiguous { name: name.to_owned(), known: some(many.iter().copied()) }),
        }
    }
    let applications: Vec<&ResultKey> = keys.iter().filter(|key| key.family() == "application").collect();
    let known = if applications.is_empty() { some(keys.iter()) } else { some(applications.into_iter()) };
    let known = if known.is_empty() { known } else { format!("; results are, among others: {known}") };
    Err(Error::NoApplication { name: name.to_owned(), known })
}

fn some<'a>(keys: impl Iterator<Item = &'a ResultKey>) -> String {
    keys.take(8).map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn application_of(runs: &[&Run], key: &ResultKey) -> PredictedApplication {
    let own = definition_of(runs, key);
    let same = |result: &&BenchmarkResult| !matches!(own.between(&result.definition), Definition::Other(_));
    let results: Vec<&BenchmarkResult> = runs.iter().filter_map(|run| run.result(key)).filter(same).collect();
    // The key was found among the results, so there is a first one.
    let metric =
        results.first().map_or_else(|| model::Metric::lower(model::Unit::Seconds, "run"), |f| f.metric.clone());
    let footprint = results
        .iter()
        .map(|result| &result.footprint)
        .filter(|footprint| footprint.operations > 0)
        .fold(None, |sum: Option<Footprint>, next| Some(sum.map_or_else(|| next.clone(), |sum| sum.plus(next))));
    PredictedApplication {
        name: key.to_string(),
        metric,
        stresses: results.first().map(|f| f.stresses.clone()).unwrap_or_default(),
        working_set: key.parameters.bytes("working_set").ok(),
        footprint,
    }
}

fn column_of(result: &BenchmarkResult) -> PredictorColumn {
    PredictorColumn {
        name: result.key().to_string(),
        label: result.title.clone(),
        tool: result.family().to_owned(),
        better: result.metric.better,
        stresses: result.stresses.clone(),
        working_set: result.parameters.bytes("working_set").ok(),
        fact: false,
    }
}

/// One machine, or one class of cores of it: fast and small cores of one chip are predicted by themselves.
fn identity(run: &Run) -> String {
    let (fingerprint, name) = (&run.machine.fingerprint, &run.machine.name);
    let machine = match (fingerprint.is_empty(), name.is_empty()) {
        (false, _) => fingerprint.clone(),
        (true, false) => format!("name {name}"),
        // Runs without a name or a fingerprint may be of different machines.
        (true, true) => format!("run {}", run.id),
    };
    core_class(run).map_or(machine.clone(), |class| format!("{machine} {class}"))
}

/// The class of cores that a run was confined to, on a machine with several: as stated, else if all CPUs that it might
/// use are of one class.
fn core_class(run: &Run) -> Option<String> {
    if let Some(class) = run.machine.text("cpu.class") {
        return Some(class);
    }
    let topology = run.machine.topology.as_ref().filter(|topology| topology.classes.len() > 1)?;
    let allowed = &topology.allowed;
    let within = |class: &&model::CoreClass| !allowed.is_empty() && allowed.and(&class.cpus).len() == allowed.len();
    let class = topology.classes.iter().find(within)?;
    Some(if class.name.is_empty() { format!("CPUs {}", class.cpus) } else { class.name.clone() })
}

fn machine_of(run: &Run) -> PredictorMachine {
    let cpu = cpu_of(run);
    let name = run
        .label
        .clone()
        .unwrap_or_else(|| if run.machine.name.is_empty() { run.id.clone() } else { run.machine.name.clone() });
    PredictorMachine {
        name,
        runs: Vec::new(),
        model: cpu_model(&cpu),
        family: cpu_family(&cpu),
        benchmarks: Vec::new(),
        application: None,
    }
}

/// The CPU's name, with its class of cores if the run was confined to one.
fn cpu_of(run: &Run) -> String {
    let cpu = run.machine.text("cpu.model").unwrap_or_else(|| run.machine.name.clone());
    core_class(run).map_or(cpu.clone(), |class| with_class(&cpu, &class))
}

/// Machines of the runs whose names or CPUs are nearest to a name that is not among them, each with its CPU.
#[must_use]
pub fn near_machines(runs: &[Run], wanted: &str) -> Vec<String> {
    let named: Vec<(String, String)> = runs
        .iter()
        .map(|run| {
            let (name, cpu) = (machine_of(run).name, cpu_of(run));
            let shown = if cpu == name { name } else { format!("{name} ({cpu})") };
            (shown, cpu)
        })
        .collect();
    let pairs: Vec<(&str, &str)> = named.iter().map(|(name, cpu)| (name.as_str(), cpu.as_str())).collect();
    nearest_names(wanted, &pairs, NEAR).into_iter().map(str::to_owned).collect()
}

fn mixed(result: &BenchmarkResult, run: &Run) -> Error {
    Error::Mixed { result: result.key().to_string(), run: run.name().to_owned() }
}
