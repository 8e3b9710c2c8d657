//! The data that a report contains, for download.

use compare::Comparison;
use explain::Explanation;
use model::{Footprint, Placement, Run, Sample};
use serde::Serialize;

use super::{OWN_TABLES, ReportInput};
use crate::EmbeddedJson;

/// The data behind a report. Batches and their sensor readings stay in the run documents: they are most of the bytes,
/// and intervals come from samples.
#[derive(Serialize)]
struct ReportData<'a> {
    runs: Vec<Run>,
    comparison: Option<&'a Comparison>,
    explanation: Option<&'a Explanation>,
}

/// The data of a report, as JSON. Many runs are here without their samples, whose values the rows of the CSV have.
pub(super) fn of(input: &ReportInput) -> Option<EmbeddedJson> {
    let many = input.runs.len() > OWN_TABLES;
    let runs = input.runs.iter().map(|run| short(run, many)).collect();
    EmbeddedJson::compact(&ReportData { runs, comparison: input.comparison, explanation: input.explanation }).ok()
}

fn short(run: &Run, many: bool) -> Run {
    let mut run = run.clone();
    // Only the series over time; each result has its own evidence.
    run.session.sensors = None;
    for result in &mut run.results {
        if many {
            result.samples = Vec::new();
        }
        result.samples.iter_mut().for_each(outline);
    }
    run
}

/// Leaves a sample its value, when to the millisecond and where it ran, and why it is excluded.
fn outline(sample: &mut Sample) {
    let milliseconds = |seconds: f64| (seconds * 1e3).round() / 1e3;
    (sample.began, sample.wall) = (milliseconds(sample.began), milliseconds(sample.wall));
    (sample.stolen, sample.throttled) = (None, None);
    if let Some(clean) = &mut sample.clean {
        clean.clock = None;
    }
    sample.nanos = Vec::new();
    sample.ops = Vec::new();
    sample.readings = Vec::new();
    sample.quantiles = Vec::new();
    sample.sensors = None;
    sample.footprint = Footprint::default();
    sample.placement = Placement { asked: sample.placement.asked.clone(), ..Placement::default() };
}
