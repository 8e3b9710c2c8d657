//! Loss as a result: the share of the sent data that did not arrive.

use std::cell::RefCell;
use std::rc::Rc;

use model::{BenchmarkResult, EstimateMethod, Metric, Outcome, Parameters, Primitive, Unit};

use crate::series::{derived, result};

/// Data that one sample sent, and the lost part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossCount {
    /// Lost.
    pub lost: u64,
    /// Sent.
    pub of: u64,
}

/// Counts of all samples of this session, by the parameters of their result; also of samples in which nothing arrived.
pub type LossCounts = Rc<RefCell<Vec<(Parameters, LossCount)>>>;

/// Unit of a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossUnit {
    /// Its name, such as "datagram".
    pub name: &'static str,
    /// How many of them are lost together at least: the bytes of a frame. A bound counts independent losses.
    pub together: u64,
}

impl LossUnit {
    /// Units that are lost one by one.
    #[must_use]
    pub const fn each(name: &'static str) -> Self {
        Self { name, together: 1 }
    }
}

/// With nothing lost of n, the upper end of the share at 95% is this over n (Hanley and Lippman-Hand, JAMA 249, 1983).
const RULE_OF_THREE: f64 = 3.0;

/// The share lost over samples. Without any loss only an upper bound is known; `None` if nothing was sent.
#[must_use]
pub fn loss(
    id: &str,
    title: &str,
    of: LossUnit,
    parameters: Parameters,
    counts: &[LossCount],
) -> Option<BenchmarkResult> {
    let sent: u64 = counts.iter().map(|count| count.of).sum();
    if sent == 0 {
        return None;
    }
    let mut result = result(id, parameters, title, Metric::lower(Unit::Ratio, of.name), &[Primitive::NetworkLink]);
    let lost: u64 = counts.iter().map(|count| count.lost.min(count.of)).sum();
    result.notes.push(format!("{lost} of {sent} in {} samples", counts.len()));
    if lost == 0 {
        result.flags.clear();
        result.outcome = Outcome::Below { bound: (RULE_OF_THREE * of.together as f64 / sent as f64).min(1.0) };
        return Some(result);
    }
    let sent = counts.iter().filter(|count| count.of > 0);
    let shares: Vec<f64> = sent.map(|count| count.lost.min(count.of) as f64 / count.of as f64).collect();
    derived(result, &shares, EstimateMethod::OrderStatistic)
}

/// The loss of every set of parameters that was measured, from low to high numbers of its parameters: samples came in
/// any order.
#[must_use]
pub fn losses(id: &str, title: &str, of: &'static str, counts: &LossCounts) -> Vec<BenchmarkResult> {
    let counts = counts.borrow();
    let mut points: Vec<&Parameters> = Vec::new();
    for (parameters, _) in counts.iter() {
        if !points.contains(&parameters) {
            points.push(parameters);
        }
    }
    let numbers = |parameters: &Parameters| -> Vec<f64> {
        parameters.iter().map(|(_, value)| value.parse().unwrap_or(0.0)).collect()
    };
    points.sort_by(|a, b| numbers(a).partial_cmp(&numbers(b)).unwrap_or(std::cmp::Ordering::Equal));
    let of_parameters = |parameters: &Parameters| {
        let own: Vec<LossCount> =
            counts.iter().filter(|(other, _)| other == parameters).map(|(_, count)| *count).collect();
        loss(id, title, LossUnit::each(of), parameters.clone(), &own)
    };
    points.into_iter().filter_map(of_parameters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result_of(counts: &[(u64, u64)]) -> Option<BenchmarkResult> {
        let counts: Vec<LossCount> = counts.iter().map(|(lost, of)| LossCount { lost: *lost, of: *of }).collect();
        loss("network.udp_loss", "UDP loss", LossUnit::each("datagram"), Parameters::none(), &counts)
    }

    #[test]
    fn a_share_has_its_interval_also_when_everything_was_lost() {
        let result = result_of(&[(10, 100), (12, 100), (8, 100), (11, 100), (9, 100), (10, 100)]).unwrap();
        let estimate = result.outcome.estimate().unwrap();
        assert!((estimate.value - 0.1).abs() < 1e-12 && estimate.low < 0.1 && estimate.high > 0.1);
        let nothing_arrived = result_of(&[(100, 100); 6]).unwrap();
        assert_eq!(nothing_arrived.outcome.estimate().map(|estimate| estimate.value), Some(1.0));
    }

    #[test]
    fn points_stand_in_the_order_of_their_numbers() {
        let counts = LossCounts::default();
        for rate in ["32000", "4000", "128000", "4000"] {
            counts.borrow_mut().push((Parameters::none().with("offered", rate), LossCount { lost: 0, of: 10 }));
        }
        let results = losses("network.udp_loss", "UDP loss", "datagram", &counts);
        let offered: Vec<&str> = results.iter().filter_map(|result| result.parameters.get("offered")).collect();
        assert_eq!(offered, ["4000", "32000", "128000"]);
    }

    #[test]
    fn without_loss_there_is_a_bound_and_without_data_nothing() {
        assert!(matches!(result_of(&[(0, 100); 6]).unwrap().outcome, Outcome::Below { bound } if bound == 0.005));
        // Bytes of a frame are lost together: a million of them are 1000 chances to lose some, not a million.
        let (unit, counts) = (LossUnit { name: "byte", together: 1_000 }, [LossCount { lost: 0, of: 500_000 }; 2]);
        let bytes = loss("network.payload_loss", "payload", unit, Parameters::none(), &counts).unwrap();
        assert!(matches!(bytes.outcome, Outcome::Below { bound } if bound == 0.003), "{:?}", bytes.outcome);
        assert!(result_of(&[(0, 0); 3]).is_none() && result_of(&[]).is_none());
    }
}
