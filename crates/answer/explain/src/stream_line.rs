//! Streams by two numbers: a write of s bytes takes `overhead + s / bandwidth`. If both runs have that line, it shows
//! whether the call or the bytes make streams differ, and no other cause is considered.

use compare::differing_parameters;
use model::{BenchmarkResult, Class, Estimate, Outcome, Parameters, Run};
use serde::{Deserialize, Serialize};
use stats::distribution::normal_quantile;

use super::text::change;
use model::words::{digits, seconds};

const OVERHEAD: &str = "network.tcp_write_overhead";
const BANDWIDTH: &str = "network.tcp_write_bandwidth";
pub(crate) const STREAM: &str = "network.tcp_stream";

/// Results that the line describes.
pub(crate) fn stands_for(benchmark: &str) -> bool {
    benchmark == STREAM || benchmark.starts_with("network.tcp_write_") || benchmark.starts_with("network.tcp_cpu_")
}

/// The lines of streams in both runs, and which of their two numbers differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamLine {
    /// Parameters of A's streams.
    pub parameters: Parameters,
    /// Parameters on which B's differ: name, A's value, B's value.
    pub differing: Vec<(String, String, String)>,
    /// Seconds of a call without its bytes: A's and B's.
    pub call: [f64; 2],
    /// Whether they differ significantly.
    pub call_differs: bool,
    /// Seconds of a byte: A's and B's.
    pub byte: [f64; 2],
    /// Whether they differ significantly.
    pub byte_differs: bool,
    /// Largest factor between the ratio of the two lines and that of the measured streams; absent without streams.
    pub misses: Option<f64>,
}

/// Value and half-width.
type Spread = (f64, f64);

fn spread(result: &BenchmarkResult) -> Option<Spread> {
    match &result.outcome {
        Outcome::Measured(Estimate { value, low, high, .. }) => Some((*value, (high - low) / 2.0)),
        _ => None,
    }
}

/// Time of a byte rather than a rate.
fn inverse((value, half): Spread) -> Option<Spread> {
    (value > 0.0).then(|| (1.0 / value, half / value.powi(2)))
}

fn differ(a: Spread, b: Spread, one_session: bool, level: f64) -> bool {
    let floor = if one_session { 0.0 } else { normal_quantile(0.5 + level / 2.0) * Class::Network.session_noise() };
    let error = a.1.hypot(b.1).hypot(floor * a.0).hypot(floor * b.0);
    (a.0 - b.0).abs() > error
}

/// The lines of streams in both runs: at the same set of parameters, or at the only two that differ on one parameter.
pub(crate) fn lines(a: &Run, b: &Run, one_session: bool, level: f64) -> Vec<StreamLine> {
    let of = |run: &'_ Run, benchmark: &str| -> Vec<BenchmarkResult> {
        run.results.iter().filter(|result| result.benchmark == benchmark && spread(result).is_some()).cloned().collect()
    };
    let others = of(b, OVERHEAD);
    let partner = |result: &BenchmarkResult| -> Option<BenchmarkResult> {
        let same = others.iter().find(|other| other.parameters == result.parameters);
        let near: Vec<&BenchmarkResult> = others
            .iter()
            .filter(|other| differing_parameters(&result.parameters, &other.parameters).len() == 1)
            .collect();
        same.or(if let [one] = near.as_slice() { Some(*one) } else { None }).cloned()
    };
    let line = |first: BenchmarkResult| -> Option<StreamLine> {
        let second = partner(&first)?;
        let bandwidth = |run: &Run, parameters: &Parameters| {
            of(run, BANDWIDTH).iter().find(|result| result.parameters == *parameters).and_then(spread).and_then(inverse)
        };
        let calls = (spread(&first)?, spread(&second)?);
        let bytes = (bandwidth(a, &first.parameters)?, bandwidth(b, &second.parameters)?);
        let differing = differing_parameters(&first.parameters, &second.parameters).into_iter().map(|parameter| {
            let value = |parameters: &Parameters| parameters.get(&parameter).unwrap_or("none").to_owned();
            let (x, y) = (value(&first.parameters), value(&second.parameters));
            (parameter, x, y)
        });
        let mut line = StreamLine {
            differing: differing.collect(),
            call: [calls.0.0, calls.1.0],
            call_differs: differ(calls.0, calls.1, one_session, level),
            byte: [bytes.0.0, bytes.1.0],
            byte_differs: differ(bytes.0, bytes.1, one_session, level),
            parameters: first.parameters.clone(),
            misses: None,
        };
        line.misses = misses(&line, a, b, &second.parameters);
        Some(line)
    };
    of(a, OVERHEAD).into_iter().filter_map(line).collect()
}

/// Largest factor between the lines' ratio of times and the measured one.
fn misses(line: &StreamLine, a: &Run, b: &Run, parameters_b: &Parameters) -> Option<f64> {
    let streams = |run: &Run, rest: &Parameters| -> Vec<(u64, f64)> {
        let here = |result: &&BenchmarkResult| {
            result.benchmark == STREAM && result.parameters.clone().without("record") == *rest
        };
        let value = |result: &BenchmarkResult| {
            Some((result.parameters.bytes("record").ok()?, result.outcome.estimate()?.value))
        };
        run.results.iter().filter(here).filter_map(value).collect()
    };
    let second = streams(b, parameters_b);
    let miss = |(record, rate): (u64, f64)| {
        let (_, other) = second.iter().find(|(bytes, _)| *bytes == record)?;
        let time = |side: usize| line.call[side] + record as f64 * line.byte[side];
        let (said, seen) = (time(1) / time(0), rate / other);
        (said > 0.0).then(|| (said / seen).ln().abs().exp())
    };
    streams(a, &line.parameters).into_iter().filter_map(miss).reduce(f64::max)
}

impl StreamLine {
    /// Whether one of the two numbers differs significantly.
    #[must_use]
    pub const fn differs(&self) -> bool {
        self.call_differs || self.byte_differs
    }

    /// The result in one or two sentences.
    #[must_use]
    pub fn sentence(&self) -> String {
        let differing: Vec<String> =
            self.differing.iter().map(|(parameter, a, b)| format!("{parameter} {a} against {b}")).collect();
        let because = if differing.is_empty() { String::new() } else { format!(" ({})", differing.join("; ")) };
        let rate = |byte: f64| format!("{} MB/s", digits(1e-6 / byte));
        let call = format!("{} a call against {}", seconds(self.call[0]), seconds(self.call[1]));
        let byte = format!("{} beyond it against {}", rate(self.byte[0]), rate(self.byte[1]));
        let verdict = match (self.call_differs, self.byte_differs) {
            (true, true) => format!("{call}, and {byte}{}", self.crossing()),
            (true, false) => format!("{call}; the cost of bytes is the same ({byte})"),
            (false, true) => format!("{byte}; the cost of a call is the same ({call})"),
            (false, false) => format!("{call}, {byte}: neither differs by more than its error"),
        };
        let fits = self.misses.map_or_else(String::new, |factor| {
            format!(". The lines give the ratio of every measured record to within {}", change(factor, 0))
        });
        format!("TCP streams{because}, by time of a write = overhead + bytes / bandwidth: {verdict}{fits}.")
    }

    /// The record size from which on the bytes matter more than the call.
    fn crossing(&self) -> String {
        let (call, byte) = (self.call[1] - self.call[0], self.byte[1] - self.byte[0]);
        let size = call.abs() / byte.abs();
        if call * byte > 0.0 {
            format!(": below {size:.0} B the call makes most of the difference, above it the bytes do")
        } else {
            format!(": below {size:.0} B the call decides which is faster, above it the bytes do")
        }
    }
}
