//! CPU time of a stream at both ends, for each byte and each call.

use std::cell::RefCell;
use std::rc::Rc;

use model::{BenchmarkResult, EstimateMethod, Metric, Parameters, Primitive, Sample, Unit};

use super::{ConnectionSeen, STREAM, StreamDirection};
use crate::series::{derived, result};

/// CPU time of one connection at one end.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionCost {
    /// Parameters of the stream, with `end`: `sender` or `receiver`.
    pub parameters: Parameters,
    /// CPU seconds for a byte, including the kernel's.
    pub byte: f64,
    /// CPU seconds for a write or a read.
    pub call: f64,
    /// The sample of the connection: its rate, and the bytes that it wrote.
    pub sample: (f64, u64),
}

/// Costs of all connections of a run.
pub type ConnectionCosts = Rc<RefCell<Vec<ConnectionCost>>>;

impl ConnectionCost {
    /// Costs of both ends. A stream in both directions gives none: each of its ends sends and receives.
    pub(super) fn of(
        stream: &BenchmarkResult,
        direction: StreamDirection,
        seen: &ConnectionSeen,
        sample: &Sample,
    ) -> Vec<Self> {
        let (client, server) = (seen.cpu.0.threads, seen.cpu.1.threads);
        let (sender, receiver) = match direction {
            StreamDirection::Up => (client, server),
            StreamDirection::Down => (server, client),
            StreamDirection::Both => return Vec::new(),
        };
        let (bytes, writes) = seen.written;
        [("sender", sender, writes), ("receiver", receiver, seen.reads)]
            .into_iter()
            .filter(|(_, seconds, calls)| *seconds > 0.0 && bytes > 0 && *calls > 0)
            .map(|(end, seconds, calls)| Self {
                parameters: stream.parameters.clone().with("end", end),
                byte: seconds / bytes as f64,
                call: seconds / calls as f64,
                sample: (sample.value, sample.footprint.operations),
            })
            .collect()
    }

    /// Whether the stream counts the sample of this connection.
    fn counts(&self, results: &[BenchmarkResult]) -> bool {
        let parameters = self.parameters.clone().without("end");
        let stream = results.iter().find(|result| result.benchmark == STREAM && result.parameters == parameters);
        let same = |sample: &&Sample| (sample.value, sample.footprint.operations) == self.sample;
        stream.is_some_and(|stream| stream.counted().iter().any(same))
    }
}

/// Cost results for the streams among `results`, from the connections that count; none if the system reports no CPU
/// time.
#[must_use]
pub fn costs(results: &[BenchmarkResult], all: &[ConnectionCost]) -> Vec<BenchmarkResult> {
    let all: Vec<&ConnectionCost> = all.iter().filter(|cost| cost.counts(results)).collect();
    let mut points: Vec<&Parameters> = Vec::new();
    for cost in &all {
        if !points.contains(&&cost.parameters) {
            points.push(&cost.parameters);
        }
    }
    let of = |parameters: &&Parameters| {
        let here = || all.iter().filter(|cost| cost.parameters == **parameters);
        let each = |id, title, metric, values: Vec<f64>| {
            let result =
                result(id, (*parameters).clone(), title, metric, &[Primitive::TcpStack, Primitive::KernelCopy]);
            derived(result, &values, EstimateMethod::OrderStatistic)
        };
        let byte = Metric::lower(Unit::Seconds, "byte");
        let call = Metric::lower(Unit::Seconds, "call");
        [
            each("network.tcp_cpu_byte", "TCP CPU time per byte", byte, here().map(|cost| cost.byte).collect()),
            each("network.tcp_cpu_call", "TCP CPU time per call", call, here().map(|cost| cost.call).collect()),
        ]
    };
    points.iter().flat_map(of).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: f64 = 1e9;

    fn cost(end: &str, byte: f64, bytes: u64) -> ConnectionCost {
        let parameters = Parameters::none().with("record", "1KiB").with("end", end);
        ConnectionCost { parameters, byte, call: byte * 100.0, sample: (RATE, bytes) }
    }

    /// A stream with `samples` samples; `odd` excludes those of odd numbers.
    fn stream(samples: u64, odd: bool) -> Vec<BenchmarkResult> {
        let metric = Metric::higher(Unit::BytesPerSecond, "bytes");
        let mut stream = result(STREAM, Parameters::none().with("record", "1KiB"), "TCP stream", metric, &[]);
        let sample = |bytes: u64| Sample {
            value: RATE,
            footprint: model::Footprint { operations: bytes, ..Default::default() },
            invalid: (odd && bytes % 2 == 1).then_some(model::Invalid::Suspended(1.0)),
            ..Sample::default()
        };
        stream.samples = (0..samples).map(sample).collect();
        vec![stream]
    }

    fn byte(results: &[BenchmarkResult], end: &str) -> (f64, u32) {
        let is =
            |one: &&BenchmarkResult| one.benchmark == "network.tcp_cpu_byte" && one.parameters.get("end") == Some(end);
        let estimate = results.iter().find(is).unwrap().outcome.estimate().unwrap();
        (estimate.value, estimate.samples)
    }

    #[test]
    fn costs_of_both_ends_are_separate() {
        let all: Vec<ConnectionCost> =
            (0..10).flat_map(|n| [cost("sender", 1e-9 + n as f64 * 1e-12, n), cost("receiver", 2e-9, n)]).collect();
        let results = costs(&stream(10, false), &all);
        assert_eq!(results.len(), 4);
        assert!((byte(&results, "sender").0 - 1.0045e-9).abs() < 1e-15);
        assert!((byte(&results, "receiver").0 - 2e-9).abs() < 1e-15);
        assert!(costs(&stream(10, false), &[]).is_empty());
    }

    #[test]
    fn samples_that_the_stream_excludes_have_no_cost() {
        let of = |n: u64| cost("sender", if n % 2 == 1 { 9e-9 } else { 1e-9 }, n);
        let all: Vec<ConnectionCost> = (0..20).map(of).collect();
        assert_eq!(byte(&costs(&stream(20, true), &all), "sender"), (1e-9, 10));
        assert_eq!(byte(&costs(&stream(20, false), &all), "sender").1, 20);
    }
}
