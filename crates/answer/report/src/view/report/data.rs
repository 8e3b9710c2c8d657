//! The data that a report contains, for download.

use compare::Comparison;
use explain::Explanation;
use model::{Footprint, Placement, Run, Sample};
use serde::Serialize;

use super::ReportInput;
use crate::EmbeddedJson;

/// The data behind a report. Batches and their sensor readings stay in the run documents: they are most of the bytes,
/// and intervals come from samples.
#[derive(Serialize)]
struct ReportData<'a> {
    runs: Vec<Run>,
    comparison: Option<&'a Comparison>,
    explanation: Option<&'a Explanation>,
}

/// The data of a report, as JSON. Several runs are here without their samples, whose values the rows of the CSV have.
pub(super) fn of(input: &ReportInput) -> Option<EmbeddedJson> {
    let several = input.runs.len() > 1;
    let runs = input.runs.iter().map(|run| short(run, several)).collect();
    EmbeddedJson::compact(&ReportData { runs, comparison: input.comparison, explanation: input.explanation }).ok()
}

fn short(run: &Run, several: bool) -> Run {
    let mut run = run.clone();
    // Only the series over time; each result has its own evidence.
    run.session.sensors = None;
    for result in &mut run.results {
        if several {
            result.samples = Vec::new();
        }
        result.samples.iter_mut().for_each(outline);
    }
    run
}

/// Leaves a sample its value to six digits, when to the millisecond and where it ran, and why it is excluded.
fn outline(sample: &mut Sample) {
    let milliseconds = |seconds: f64| (seconds * 1e3).round() / 1e3;
    (sample.began, sample.wall) = (milliseconds(sample.began), milliseconds(sample.wall));
    (sample.stolen, sample.throttled) = (None, None);
    sample.value = six_digits(sample.value);
    if let Some(clean) = &mut sample.clean {
        clean.clock = None;
        clean.value = clean.value.map(six_digits);
        clean.cycles = clean.cycles.map(six_digits);
    }
    sample.nanos = Vec::new();
    sample.ops = Vec::new();
    sample.readings = Vec::new();
    sample.quantiles = Vec::new();
    sample.sensors = None;
    sample.footprint = Footprint::default();
    sample.placement = Placement { asked: sample.placement.asked.clone(), ..Placement::default() };
}

/// More digits are noise, which does not compress: they were a third of a page.
fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
