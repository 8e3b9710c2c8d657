//! Counts of a simulation.

use serde::Serialize;
use stats::Histogram;

/// Quantiles of the time from an event's moment to the arrival of its last byte, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyQuantiles {
    /// Median.
    pub p50: f64,
    /// 90% quantile.
    pub p90: f64,
    /// 99% quantile.
    pub p99: f64,
    /// Maximum.
    pub max: f64,
}

impl LatencyQuantiles {
    pub(super) fn of(nanos: &Histogram) -> Option<Self> {
        let at = |q: f64| nanos.quantile(q).map(|value| value as f64 * 1e-9);
        Some(Self { p50: at(0.5)?, p90: at(0.9)?, p99: at(0.99)?, max: at(1.0)? })
    }
}

/// Counts of a simulation.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SimulationTally {
    /// Steps of the simulation.
    pub steps: u64,
    /// Events that arrived completely.
    pub built: u64,
    /// Simulated seconds until the last change.
    pub seconds: f64,
    /// Frames sent by the senders, including repeated ones.
    pub sent: u64,
    /// Frames that arrived.
    pub delivered: u64,
    /// Frames dropped because an output buffer was full.
    pub lost_output: u64,
    /// Frames dropped because an input buffer was full.
    pub lost_input: u64,
    /// Frames sent or requested again.
    pub repeated: u64,
    /// Payload that arrived, bytes.
    pub payload: u64,
    /// Largest fill of one output buffer, bytes.
    pub peak_output: u64,
    /// Largest fill of one input buffer, bytes.
    pub peak_input: u64,
    /// Jain's index over the receivers' payload: 1 when all are equal (Jain, Chiu and Hawe, DEC-TR-301, 1984).
    pub fairness: f64,
    /// Duration of events; `None` when none was built.
    pub latency: Option<LatencyQuantiles>,
}

impl SimulationTally {
    /// Frames dropped.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost_output + self.lost_input
    }

    /// Share of the frames sent that were dropped.
    #[must_use]
    pub fn lost_share(&self) -> f64 {
        if self.sent == 0 { 0.0 } else { self.lost() as f64 / self.sent as f64 }
    }

    /// Events a second.
    #[must_use]
    pub fn events_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.built as f64 / self.seconds } else { 0.0 }
    }

    /// Payload of all receivers, bytes a second.
    #[must_use]
    pub fn payload_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.payload as f64 / self.seconds } else { 0.0 }
    }
}

/// Jain's index of fairness.
pub(super) fn fairness(shares: impl Iterator<Item = f64>) -> f64 {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares {
        count += 1.0;
        sum += share;
        squares += share * share;
    }
    if squares > 0.0 { sum * sum / (count * squares) } else { 1.0 }
}
