//! Fits throughput over record sizes by two parameters.

use model::{BenchmarkResult, EstimateMethod, Metric, Outcome, Primitive, Run, Unit};
use stats::fit::lack_of_fit::lack_of_fit;
use stats::fit::line::weighted_line;
use stats::median;

use super::STREAM;
use crate::series::{derived, result};

/// Describes the streams of a run by two parameters: a write of s bytes takes `overhead + s / bandwidth`. The fit is
/// done for the first, the second and every further connection of each record size, so that intervals are based on
/// fresh connections; excluded samples do not count. Streams that differ in the record size alone give one pair of
/// results.
#[must_use]
pub fn two_parameters(run: &Run) -> Vec<BenchmarkResult> {
    let mut sets: Vec<(model::Parameters, Vec<&BenchmarkResult>)> = Vec::new();
    for stream in run.results.iter().filter(|result| result.benchmark == STREAM) {
        let rest = stream.parameters.clone().without("record");
        match sets.iter_mut().find(|(parameters, _)| *parameters == rest) {
            Some((_, members)) => members.push(stream),
            None => sets.push((rest, vec![stream])),
        }
    }
    sets.into_iter()
        .filter(|(_, members)| members.len() >= 4)
        .flat_map(|(parameters, members)| fit(&parameters, &members))
        .collect()
}

/// Below this p-value, and further off than [`BAND`], the streams do not follow a line.
const LACKING: f64 = 0.01;
/// Relative distance from the line that does not matter.
const BAND: f64 = 0.05;

fn fit(parameters: &model::Parameters, members: &[&BenchmarkResult]) -> Vec<BenchmarkResult> {
    let values: Vec<Vec<f64>> = members.iter().map(|result| result.values()).collect();
    let rounds = values.iter().map(Vec::len).min().unwrap_or(0);
    let sizes: Vec<f64> =
        members.iter().filter_map(|result| result.parameters.bytes("record").ok()).map(|bytes| bytes as f64).collect();
    if sizes.len() != members.len() {
        return Vec::new();
    }
    // Times of a write, by record size and round.
    let times: Vec<Vec<f64>> = values
        .iter()
        .zip(&sizes)
        .map(|(values, bytes)| values[..rounds].iter().map(|value| bytes / value).collect())
        .collect();
    let (mut overheads, mut bandwidths) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let times: Vec<f64> = times.iter().map(|rounds| rounds[round]).collect();
        // Equal relative errors.
        let weights: Vec<f64> = times.iter().map(|time| time.powi(-2)).collect();
        if let Some(line) = weighted_line(&sizes, &times, &weights).filter(|line| line.slope > 0.0) {
            overheads.push(line.intercept);
            bandwidths.push(1.0 / line.slope);
        }
    }
    let refused = if rounds == 0 {
        Some("no round has all record sizes".to_owned())
    } else if bandwidths.is_empty() {
        Some("in no round does the time grow with the record size; see the curve".to_owned())
    } else {
        refusal(&sizes, &times, &bandwidths)
    };
    let derived = |id: &str, title: &str, metric: Metric, values: &[f64]| {
        let mut result = result(id, parameters.clone(), title, metric, &[Primitive::TcpStack]);
        result.notes = vec![format!("fitted to {} record sizes in each of {} rounds", members.len(), values.len())];
        if let Some(reason) = &refused {
            result.flags.clear();
            result.outcome = Outcome::NotMeasured(reason.clone());
            return Some(result);
        }
        derived(result, values, EstimateMethod::Propagated)
    };
    [
        derived(
            "network.tcp_write_overhead",
            "TCP write overhead per call",
            Metric::lower(Unit::Seconds, "call"),
            &overheads,
        ),
        derived(
            "network.tcp_write_bandwidth",
            "TCP write bandwidth without overhead",
            Metric::higher(Unit::BytesPerSecond, "bytes"),
            &bandwidths,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Why two parameters do not describe the streams, if they do not: the fit is poor, or claims more than the streams
/// carried where longer records stopped helping.
fn refusal(sizes: &[f64], times: &[Vec<f64>], bandwidths: &[f64]) -> Option<String> {
    let size = |at: usize| model::format_size(sizes[at] as u64);
    if let Some(test) = lack_of_fit(sizes, times).filter(|test| test.p_value < LACKING && test.off.abs() > BAND) {
        let (percent, way) = (100.0 * test.off.abs(), if test.off > 0.0 { "longer" } else { "shorter" });
        let at = size(test.worst);
        return Some(format!("the times are not linear: a write of {at} takes {percent:.0}% {way}; see the curve"));
    }
    let rate = |at: usize| Some(sizes[at] / median(&times[at])?);
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
    let (first, second) = (rate(*order.first()?)?, rate(*order.get(1)?)?);
    let highest = times.iter().zip(sizes).flat_map(|(times, size)| times.iter().map(move |time| size / time));
    let highest = highest.fold(0.0, f64::max);
    let level = (first / second - 1.0).abs() < 0.01;
    let claimed = median(bandwidths)?;
    (level && claimed > highest).then(|| {
        format!(
            "the fitted line gives {:.4e} B/s, but the longest records reach {:.4e} B/s; see the curve",
            claimed, first
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Parameters, Sample};

    const SIZES: [u64; 7] = [64, 256, 1024, 4096, 16384, 65536, 262_144];

    /// Streams of records whose write takes what `time` says, with 0.5% scatter.
    fn fitted(time: impl Fn(f64) -> f64) -> Vec<BenchmarkResult> {
        fit(&Parameters::none(), &streams(time).iter().collect::<Vec<_>>())
    }

    fn streams(time: impl Fn(f64) -> f64) -> Vec<BenchmarkResult> {
        let mut run = Vec::new();
        let mut rng = stats::simulate::generator(7);
        for size in SIZES {
            let parameters = Parameters::none().with("record", model::format_size(size));
            let metric = Metric::higher(Unit::BytesPerSecond, "bytes");
            let mut stream = result("network.tcp_stream", parameters, "TCP stream", metric, &[Primitive::TcpStack]);
            let value =
                |_| size as f64 / time(size as f64) * (0.005 * stats::simulate::standard_normal(&mut rng)).exp();
            stream.samples = (0..12).map(value).map(|value| Sample { value, ..Sample::default() }).collect();
            run.push(stream);
        }
        run
    }

    fn value(result: &BenchmarkResult) -> Option<f64> {
        result.outcome.estimate().map(|estimate| estimate.value)
    }

    #[test]
    fn two_parameters_are_found_where_they_describe_the_streams() {
        let found = fitted(|bytes| 2e-6 + bytes / 1e9);
        let (overhead, bandwidth) = (value(&found[0]).unwrap(), value(&found[1]).unwrap());
        assert!((overhead / 2e-6 - 1.0).abs() < 0.02 && (bandwidth / 1e9 - 1.0).abs() < 0.02, "{overhead} {bandwidth}");
    }

    #[test]
    fn excluded_samples_have_no_part_in_the_fit() {
        let mut run = streams(|bytes| 2e-6 + bytes / 1e9);
        for stream in run.iter_mut().step_by(2) {
            let stolen = model::TakenTime { seconds: 0.5, of: 1.0 };
            let slow = Sample { value: stream.samples[0].value / 20.0, ..Sample::default() };
            let excluded = Sample { invalid: Some(model::Invalid::Stolen(stolen)), ..slow };
            (0..4).for_each(|_| stream.samples.insert(0, excluded.clone()));
        }
        let found = fit(&Parameters::none(), &run.iter().collect::<Vec<_>>());
        let overheads = found[0].outcome.estimate().unwrap();
        assert!((overheads.value / 2e-6 - 1.0).abs() < 0.02 && overheads.high < 2.2e-6, "{overheads:?}");
        assert!(found[0].notes[0].contains("in each of 12 rounds"), "{:?}", found[0].notes);
    }

    #[test]
    fn an_overhead_below_nothing_is_a_reason_and_no_time() {
        let result = result("network.x", Parameters::none(), "x", Metric::lower(Unit::Seconds, "call"), &[]);
        let values: Vec<f64> = (0..12).map(|at| -1e-7 + 1e-9 * f64::from(at)).collect();
        let found = derived(result, &values, EstimateMethod::Propagated).unwrap();
        assert!(matches!(&found.outcome, Outcome::NotMeasured(reason) if reason.contains("below 0")), "{found:?}");
    }

    #[test]
    fn times_that_do_not_rise_are_a_reason_and_no_missing_result() {
        let found = fitted(|bytes| 1.0 / (1.0 + bytes));
        assert_eq!(found.len(), 2);
        for result in &found {
            assert!(matches!(&result.outcome, Outcome::NotMeasured(reason) if reason.contains("grow")), "{result:?}");
        }
    }

    #[test]
    fn a_link_that_bounds_every_long_record_is_not_a_line() {
        // Coalesced by the sender, every record from 256 B on travels at the 12.5 MB/s of the link.
        let found = fitted(|bytes| if bytes < 200.0 { 1e-4 } else { 0.0_f64.max(bytes / 12.5e6) });
        for result in &found {
            assert!(
                matches!(&result.outcome, Outcome::NotMeasured(reason) if reason.contains("see the curve")),
                "{result:?}"
            );
        }
    }
}
