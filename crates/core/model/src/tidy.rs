//! Runs as a tidy table: one row for each result, one column for each variable (Wickham, "Tidy data", Journal of
//! Statistical Software 59, 2014). Every program that prints runs as CSV prints this table, and importing reads it
//! back.

use crate::{BenchmarkResult, Definition, Estimate, EstimateMethod, Origin, Outcome, Run, ValueBasis};

/// The columns of [`tidy_rows`]. Readers use these names; new columns may be added at the end.
pub const TIDY_COLUMNS: [&str; 39] = [
    "run",
    "label",
    "machine",
    "started",
    "tool",
    "version",
    "document",
    "sha256",
    "attribution",
    "benchmark",
    "parameters",
    "title",
    "unit",
    "per",
    "better",
    "class",
    "stresses",
    "outcome",
    "value",
    "low",
    "high",
    "level",
    "samples",
    "batches",
    "method",
    "detail",
    "variant",
    "resolution",
    "flags",
    "notes",
    "values",
    "quantiles",
    "rounding",
    "basis",
    "clean",
    "raw",
    "raw_low",
    "raw_high",
    "definition",
];

/// The rows of a run, in the order of its results.
#[must_use]
pub fn tidy_rows(run: &Run) -> Vec<Vec<String>> {
    run.results.iter().map(|result| row(run, result)).collect()
}

fn row(run: &Run, result: &BenchmarkResult) -> Vec<String> {
    let nothing = Origin::default();
    let origin = run.origin.as_ref().unwrap_or(&nothing);
    let some = |text: &Option<String>| text.clone().unwrap_or_default();
    let mut row = vec![
        run.id.clone(),
        some(&run.label),
        run.machine.name.clone(),
        run.session.started.clone(),
        origin.tool.clone(),
        some(&origin.version),
        some(&origin.document),
        some(&origin.sha256),
        some(&origin.attribution),
        result.benchmark.clone(),
        result.parameters.to_string(),
        result.title.clone(),
        code(&result.metric.unit),
        result.metric.per.to_string(),
        code(&result.metric.better),
        code(&result.class),
        words(&result.stresses),
    ];
    row.extend(outcome(&result.outcome));
    row.extend([
        some(&result.variant),
        result.resolution.map(number).unwrap_or_default(),
        words(&result.flags),
        result.notes.join(" | "),
        result.values().into_iter().map(number).collect::<Vec<_>>().join(" "),
        if result.quantiles.is_empty() { String::new() } else { json(&result.quantiles) },
        result.rounding.map(number).unwrap_or_default(),
    ]);
    row.extend(sensors(result));
    row.push(definition(&result.definition));
    row
}

/// Empty for the same definition as the catalogue's, else how it differs.
fn definition(definition: &Definition) -> String {
    match definition {
        Definition::Same => String::new(),
        Definition::Near(differs) => format!("near: {differs}"),
        Definition::Other(differs) => format!("other: {differs}"),
    }
}

/// The columns from `basis` to `raw_high`: the basis of the value, the share of its clean batches, and the value over
/// all batches of first attempts. Empty without sensor readings.
fn sensors(result: &BenchmarkResult) -> [String; 5] {
    let Some(sensors) = &result.sensors else { return Default::default() };
    let basis = match &sensors.basis {
        ValueBasis::Raw(reason) => format!("raw: {reason}"),
        other => code(other),
    };
    let raw = |of: fn(&Estimate) -> f64| sensors.raw.as_ref().map(|one| number(of(one))).unwrap_or_default();
    [
        basis,
        sensors.kept.map(|share| number(share.get())).unwrap_or_default(),
        raw(|one| one.value),
        raw(|one| one.low),
        raw(|one| one.high),
    ]
}

/// The columns from `outcome` to `detail`.
fn outcome(outcome: &Outcome) -> [String; 9] {
    let empty = String::new;
    let bare = |name: &str, high: String, detail: String| {
        [name.to_owned(), empty(), empty(), high, empty(), empty(), empty(), empty(), detail]
    };
    match outcome {
        Outcome::Measured(estimate) => [
            "measured".to_owned(),
            number(estimate.value),
            number(estimate.low),
            number(estimate.high),
            number(estimate.level),
            estimate.samples.to_string(),
            estimate.batches.to_string(),
            code(&if estimate.is_range() { EstimateMethod::Range } else { estimate.method }),
            empty(),
        ],
        Outcome::Below { bound } => bare("below", number(*bound), empty()),
        Outcome::Modes(modes) => bare("modes", empty(), json(modes)),
        Outcome::NotMeasured(reason) => bare("not_measured", empty(), reason.clone()),
        Outcome::Failed(reason) => bare("failed", empty(), reason.clone()),
    }
}

fn words(values: &[impl serde::Serialize]) -> String {
    values.iter().map(code).collect::<Vec<_>>().join(" ")
}

/// The shortest digits that are read back as the same number.
fn number(value: f64) -> String {
    format!("{value:?}")
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The spelling of a value in documents: `cannot_converge`, `bytes_per_second`.
#[must_use]
pub fn code(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
