//! Ratings as results of a run.

use application::CopyReport;
use measure::Reply;
use model::{
    BenchmarkResult, Better, Class, Invalid, Metric, Parameters, PlanEntry, Primitive, ResultKey, Run, Sample, Unit,
};
use rating::RatingSet;

/// Adds the geometric mean, then its components.
pub(super) fn results(run: &mut Run, set: RatingSet, mode: &str, copies: u32) {
    let name = set.name();
    add(run, set, format!("rating.{}_{mode}", set.id()), copies, format!("{name} {mode}, geometric mean"), "");
    for component in set.components() {
        let benchmark = format!("rating.{}_{}_{mode}", set.id(), component.name);
        add(run, set, benchmark, copies, format!("{name} {mode}, {}", component.name), component.about);
    }
}

fn add(run: &mut Run, set: RatingSet, benchmark: String, copies: u32, title: String, note: &str) {
    let parameters = Parameters::none().with("copies", copies.to_string());
    // One sample yields the mean and its components.
    let shares = Some(format!("{} x{copies}", set.name()));
    let entry =
        PlanEntry { benchmark: benchmark.clone(), parameters: parameters.clone(), target: run.plan.target, shares };
    run.plan.entries.push(entry);
    let metric = Metric { unit: Unit::Ratio, per: "reference machine".into(), better: Better::Higher };
    let stressed = if set == RatingSet::Int1 { Primitive::IntegerAlu } else { Primitive::FloatingPoint };
    run.results.push(BenchmarkResult {
        ops: 1,
        notes: if note.is_empty() { Vec::new() } else { vec![format!("{}{note}", model::RECORD)] },
        ..BenchmarkResult::unmeasured(ResultKey { benchmark, parameters }, title, metric, Class::Application)
            .stressing(&[stressed])
    });
}

/// One value of a result, from a sample of a component or of all of them.
pub(super) fn launched(
    result: usize,
    round: u32,
    wall: f64,
    value: f64,
    report: Option<&CopyReport>,
    invalid: Option<Invalid>,
) -> Reply {
    let sample = Sample {
        round,
        wall,
        value,
        nanos: vec![(wall * 1e9) as u64],
        steady: true,
        stolen: report.and_then(|report| report.stolen),
        throttled: report.and_then(|report| report.throttled),
        footprint: report.map(CopyReport::footprint).unwrap_or_default(),
        invalid,
        ..Sample::default()
    };
    Reply::Launched { result, sample: Box::new(sample) }
}
