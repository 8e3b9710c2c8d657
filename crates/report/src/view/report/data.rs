//! The data that a report contains, for download.

use compare::Comparison;
use explain::Explanation;
use model::{Footprint, Launch, Placement, Run};
use serde::Serialize;

use super::{OWN_TABLES, ReportInput};
use crate::EmbeddedJson;

/// What a report was made from. Single batches, and what was read beside them, stay in the run documents: they are most
/// of the bytes, and intervals are computed from launches.
#[derive(Serialize)]
struct ReportData<'a> {
    runs: Vec<Run>,
    comparison: Option<&'a Comparison>,
    explanation: Option<&'a Explanation>,
}

/// The data of a report, as JSON. Many runs are here without their launches, whose values the rows of the CSV have.
pub(super) fn of(input: &ReportInput) -> Option<EmbeddedJson> {
    let many = input.runs.len() > OWN_TABLES;
    let runs = input.runs.iter().map(|run| short(run, many)).collect();
    EmbeddedJson::compact(&ReportData { runs, comparison: input.comparison, explanation: input.explanation }).ok()
}

fn short(run: &Run, many: bool) -> Run {
    let mut run = run.clone();
    // Its series over time; what follows for each result stands there.
    run.session.references = None;
    for result in &mut run.results {
        if many {
            result.launches = Vec::new();
        }
        result.launches.iter_mut().for_each(outline);
    }
    run
}

/// Leaves a launch its value, when and where it ran, and why it is excluded.
fn outline(launch: &mut Launch) {
    launch.nanos = Vec::new();
    launch.ops = Vec::new();
    launch.readings = Vec::new();
    launch.quantiles = Vec::new();
    launch.references = None;
    launch.footprint = Footprint::default();
    launch.placement = Placement { asked: launch.placement.asked.clone(), ..Placement::default() };
}
