//! The table of known values, from run documents.

use std::collections::BTreeMap;

use model::{Figure, FigureKey, Footprint, Run};

use super::cpu::{cpu_family, cpu_model};
use super::error::Error;
use super::table::{PredictedApplication, PredictorColumn, PredictorMachine, PredictorTable};

/// Joins runs to a table: one machine for all runs with one fingerprint (else one name); the application's figure is
/// excluded from the predictors together with all its other points and parts. `application` is the id of a figure, with
/// its point if it has several, or the name of an application (`NAME` for `application.NAME`).
///
/// # Errors
/// When no run has the application, its name matches several figures, or runs have one figure in different units.
pub fn from_runs(runs: &[&Run], application: &str) -> Result<PredictorTable, Error> {
    let key = application_key(runs, application)?;
    let mut table =
        PredictorTable { application: application_of(runs, &key), columns: Vec::new(), machines: Vec::new() };
    let mut places: BTreeMap<FigureKey, usize> = BTreeMap::new();
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
        for figure in &run.figures {
            let Some(logarithm) = logarithm(figure) else { continue };
            if figure.key() == key {
                if figure.metric != table.application.metric {
                    return Err(mixed(figure, run));
                }
                values[place].push(logarithm);
            } else if !is_part_of(&figure.probe, &key.probe) {
                let next = places.len();
                let column = *places.entry(figure.key()).or_insert(next);
                if column == table.columns.len() {
                    table.columns.push(column_of(figure));
                } else if table.columns[column].better != figure.metric.better {
                    return Err(mixed(figure, run));
                }
                readings[place].entry(column).or_default().push(logarithm);
            }
        }
    }
    let width = table.columns.len();
    for ((machine, readings), values) in table.machines.iter_mut().zip(&readings).zip(&values) {
        machine.probes = (0..width).map(|column| readings.get(&column).and_then(|v| stats::median(v))).collect();
        machine.application = stats::median(values);
    }
    Ok(table)
}

/// The logarithm of a figure with a valid value.
fn logarithm(figure: &Figure) -> Option<f64> {
    let value = figure.outcome.estimate()?.value;
    (value.is_finite() && value > 0.0).then(|| value.ln())
}

/// Other points of the application and other figures of its name measure the same program and are never predictors.
fn is_part_of(probe: &str, application: &str) -> bool {
    probe == application
        || probe.strip_prefix(application).is_some_and(|rest| rest.starts_with(['.', '_']))
        || application.strip_prefix(probe).is_some_and(|rest| rest.starts_with(['.', '_']))
}

fn application_key(runs: &[&Run], name: &str) -> Result<FigureKey, Error> {
    let mut keys: Vec<FigureKey> =
        runs.iter().flat_map(|run| &run.figures).filter(|f| logarithm(f).is_some()).map(Figure::key).collect();
    keys.sort();
    keys.dedup();
    let prefixed = format!("application.{name}");
    for wanted in [name, prefixed.as_str()] {
        let exact: Vec<&FigureKey> = keys.iter().filter(|key| key.to_string() == wanted).collect();
        let found = if exact.is_empty() { keys.iter().filter(|key| key.probe == wanted).collect() } else { exact };
        match found.as_slice() {
            [] => {}
            [one] => return Ok((*one).clone()),
            many => return Err(Error::Ambiguous { name: name.to_owned(), known: some(many.iter().copied()) }),
        }
    }
    let applications: Vec<&FigureKey> = keys.iter().filter(|key| key.family() == "application").collect();
    let known = if applications.is_empty() { some(keys.iter()) } else { some(applications.into_iter()) };
    let known = if known.is_empty() { known } else { format!("; figures are, among others: {known}") };
    Err(Error::NoApplication { name: name.to_owned(), known })
}

fn some<'a>(keys: impl Iterator<Item = &'a FigureKey>) -> String {
    keys.take(8).map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn application_of(runs: &[&Run], key: &FigureKey) -> PredictedApplication {
    let figures: Vec<&Figure> = runs.iter().filter_map(|run| run.figure(key)).collect();
    // The key was found among the figures, so there is a first one.
    let metric =
        figures.first().map_or_else(|| model::Metric::lower(model::Unit::Seconds, "run"), |f| f.metric.clone());
    let footprint = figures
        .iter()
        .map(|figure| &figure.footprint)
        .filter(|footprint| footprint.operations > 0)
        .fold(None, |sum: Option<Footprint>, next| Some(sum.map_or_else(|| next.clone(), |sum| sum.plus(next))));
    PredictedApplication {
        name: key.to_string(),
        metric,
        stresses: figures.first().map(|f| f.stresses.clone()).unwrap_or_default(),
        working_set: key.point.bytes("working_set").ok(),
        footprint,
    }
}

fn column_of(figure: &Figure) -> PredictorColumn {
    PredictorColumn {
        name: figure.key().to_string(),
        label: figure.title.clone(),
        tool: figure.family().to_owned(),
        better: figure.metric.better,
        stresses: figure.stresses.clone(),
        working_set: figure.point.bytes("working_set").ok(),
    }
}

fn identity(run: &Run) -> String {
    let fingerprint = &run.machine.fingerprint;
    if fingerprint.is_empty() { format!("name {}", run.machine.name) } else { fingerprint.clone() }
}

fn machine_of(run: &Run) -> PredictorMachine {
    let cpu = run.machine.text("cpu.model").unwrap_or_else(|| run.machine.name.clone());
    let name = run
        .label
        .clone()
        .unwrap_or_else(|| if run.machine.name.is_empty() { run.id.clone() } else { run.machine.name.clone() });
    PredictorMachine {
        name,
        runs: Vec::new(),
        model: cpu_model(&cpu),
        family: cpu_family(&cpu),
        probes: Vec::new(),
        application: None,
    }
}

fn mixed(figure: &Figure, run: &Run) -> Error {
    Error::Mixed { figure: figure.key().to_string(), run: run.name().to_owned() }
}
