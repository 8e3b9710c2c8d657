//! Fits throughput over record sizes by two parameters.

use model::{EstimateMethod, Figure, Metric, Primitive, Run, Unit};
use stats::fit::line::weighted_line;

use crate::series::{derived, figure};

/// Describes the streams of a run by two parameters: a write of s bytes takes `overhead + s / bandwidth`. The fit is
/// done for every round, so that intervals are based on fresh connections; one pair of figures for each set of streams
/// that differ in the record size alone.
#[must_use]
pub fn two_parameters(run: &Run) -> Vec<Figure> {
    let mut sets: Vec<(model::Point, Vec<&Figure>)> = Vec::new();
    for stream in run.figures.iter().filter(|figure| figure.probe == "network.tcp_stream") {
        let rest = stream.point.clone().without("record");
        match sets.iter_mut().find(|(point, _)| *point == rest) {
            Some((_, members)) => members.push(stream),
            None => sets.push((rest, vec![stream])),
        }
    }
    sets.into_iter()
        .filter(|(_, members)| members.len() >= 4)
        .flat_map(|(point, members)| fit(&point, &members))
        .collect()
}

fn fit(point: &model::Point, members: &[&Figure]) -> Vec<Figure> {
    let rounds = members.iter().map(|figure| figure.launches.len()).min().unwrap_or(0);
    let (mut overheads, mut bandwidths) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let bytes: Vec<f64> =
            members.iter().filter_map(|figure| figure.point.bytes("record").ok()).map(|bytes| bytes as f64).collect();
        let times: Vec<f64> =
            members.iter().zip(&bytes).map(|(figure, bytes)| bytes / figure.launches[round].value).collect();
        // Equal relative errors.
        let weights: Vec<f64> = times.iter().map(|time| time.powi(-2)).collect();
        if let Some(line) = weighted_line(&bytes, &times, &weights).filter(|line| line.slope > 0.0) {
            overheads.push(line.intercept);
            bandwidths.push(1.0 / line.slope);
        }
    }
    let derived = |id: &str, title: &str, metric: Metric, values: &[f64]| {
        let mut figure = figure(id, point.clone(), title, metric, &[Primitive::TcpStack]);
        figure.notes =
            vec![format!("from the fit of {} record sizes in each of {} rounds", members.len(), values.len())];
        derived(figure, values, EstimateMethod::Propagated)
    };
    [
        derived(
            "network.tcp_write_overhead",
            "TCP write, overhead of a call",
            Metric::lower(Unit::Seconds, "call"),
            &overheads,
        ),
        derived(
            "network.tcp_write_bandwidth",
            "TCP write, bandwidth beyond the overhead",
            Metric::higher(Unit::BytesPerSecond, "bytes"),
            &bandwidths,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}
