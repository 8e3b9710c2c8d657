//! CPU time of a stream at both ends, for each byte and each call.

use std::cell::RefCell;
use std::rc::Rc;

use model::{EstimateMethod, Figure, Metric, Point, Primitive, Unit};

use super::{ConnectionSeen, StreamDirection};
use crate::series::{derived, figure};

/// CPU time of one connection at one end.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectionCost {
    /// Point of the stream, with `end`: `sender` or `receiver`.
    pub point: Point,
    /// CPU seconds for a byte, including the kernel's.
    pub byte: f64,
    /// CPU seconds for a write or a read.
    pub call: f64,
}

/// Costs of all connections of a run.
pub type ConnectionCosts = Rc<RefCell<Vec<ConnectionCost>>>;

impl ConnectionCost {
    /// Costs of both ends. A stream in both directions gives none: each of its ends sends and receives.
    pub(super) fn of(stream: &Figure, direction: StreamDirection, seen: &ConnectionSeen) -> Vec<Self> {
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
                point: stream.point.clone().with("end", end),
                byte: seconds / bytes as f64,
                call: seconds / calls as f64,
            })
            .collect()
    }
}

/// Figures of the costs of streams; none if the system reports no CPU time.
#[must_use]
pub fn costs(all: &[ConnectionCost]) -> Vec<Figure> {
    let mut points: Vec<&Point> = Vec::new();
    for cost in all {
        if !points.contains(&&cost.point) {
            points.push(&cost.point);
        }
    }
    let of = |point: &&Point| {
        let here = || all.iter().filter(|cost| cost.point == **point);
        let each = |id, title, metric, values: Vec<f64>| {
            let figure = figure(id, (*point).clone(), title, metric, &[Primitive::TcpStack, Primitive::KernelCopy]);
            derived(figure, &values, EstimateMethod::OrderStatistic)
        };
        let byte = Metric::lower(Unit::Seconds, "byte");
        let call = Metric::lower(Unit::Seconds, "call");
        [
            each("network.tcp_cpu_byte", "CPU time of a byte over TCP", byte, here().map(|cost| cost.byte).collect()),
            each("network.tcp_cpu_call", "CPU time of a TCP call", call, here().map(|cost| cost.call).collect()),
        ]
    };
    points.iter().flat_map(of).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_both_ends_are_separate() {
        let cost =
            |end: &str, byte: f64| ConnectionCost { point: Point::origin().with("end", end), byte, call: byte * 100.0 };
        let all: Vec<ConnectionCost> =
            (0..10).flat_map(|n| [cost("sender", 1e-9 + f64::from(n) * 1e-12), cost("receiver", 2e-9)]).collect();
        let figures = costs(&all);
        assert_eq!(figures.len(), 4);
        let byte = |end: &str| {
            let figure =
                figures.iter().find(|f| f.probe == "network.tcp_cpu_byte" && f.point.get("end") == Some(end)).unwrap();
            figure.outcome.estimate().unwrap().value
        };
        assert!((byte("sender") - 1.0045e-9).abs() < 1e-15 && (byte("receiver") - 2e-9).abs() < 1e-15);
        assert!(costs(&[]).is_empty());
    }
}
