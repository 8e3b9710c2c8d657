//! The outcome of a job: events, times, and the counters of its nodes.

use std::net::IpAddr;

use stats::Histogram;

use super::ledger::EventLedger;
use super::message::{NodeCounters, WrongByte};
use crate::data::CpuUse;
use crate::pattern::ADVICE;
use crate::{Error, Result};

/// Nanoseconds of a window, and windows that are kept.
const WINDOW: u64 = 100_000_000;
const MOST_WINDOWS: usize = 1 << 22;

/// Result of a job.
#[derive(Debug, Clone, Default)]
pub struct BuildOutcome {
    /// Events built, each counted once.
    pub built: u32,
    /// Events not built, because datagrams were lost.
    pub missing: u32,
    /// Repeated reports of built events.
    pub refused: u64,
    /// From the start to the last built event, seconds, by the receiver that built it.
    pub seconds: f64,
    /// Time to build an event, nanoseconds.
    pub latency: Histogram,
    /// Events reported in each tenth of a second since the start.
    pub windows: Vec<u32>,
    /// Events built by each receiver.
    pub by_receiver: Vec<u32>,
    /// Counters of the senders, in order.
    pub senders: Vec<NodeCounters>,
    /// Counters of the receivers, in order, without a lost one's.
    pub receivers: Vec<NodeCounters>,
    /// Time between the first and the last node's start, seconds, corrected for the offsets of their clocks.
    pub skew: f64,
    /// Bound of the error of `skew`, seconds.
    pub skew_within: f64,
    /// Location of the nodes, senders first.
    pub places: Vec<NodePlace>,
    /// CPU time of this host.
    pub cpu: CpuUse,
    /// After a receiver was lost: seconds until the driver noticed, seconds until others had built all its events, and
    /// the longest time without any built event.
    pub hole: Option<[f64; 3]>,
}

/// Location of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePlace {
    /// Its name at the launcher.
    pub name: String,
    /// Host name.
    pub host: String,
    /// Address of its data sockets.
    pub address: IpAddr,
    /// Interface that has this address.
    pub interface: String,
}

impl BuildOutcome {
    /// Counts events that a receiver reports as built until `ended`, nanoseconds since the start.
    pub(super) fn count(
        &mut self,
        receiver: Option<usize>,
        events: &[(u32, u64)],
        ended: u64,
        ledger: &mut EventLedger,
    ) {
        let Some(own) = receiver.and_then(|receiver| self.by_receiver.get_mut(receiver)) else { return };
        let (mut new, window) = (false, (ended / WINDOW) as usize);
        for (event, nanos) in events {
            if ledger.commit(*event) {
                new = true;
                // A job of a month has some millions of windows.
                if window < MOST_WINDOWS {
                    self.windows.resize(self.windows.len().max(window + 1), 0);
                    self.windows[window] += 1;
                }
                *own += 1;
                self.latency.record(*nanos);
            }
        }
        if new {
            self.seconds = self.seconds.max(ended as f64 * 1e-9);
        }
    }

    /// Events a second in the slowest tenth of a second, without the first and the last one; `None` of fewer than four. A
    /// link that fails for moments is not seen in a mean.
    #[must_use]
    pub fn slowest_window(&self) -> Option<f64> {
        let whole = self.windows.get(1..self.windows.len().saturating_sub(1)).filter(|whole| whole.len() >= 2)?;
        whole.iter().min().map(|events| f64::from(*events) * 1e9 / WINDOW as f64)
    }

    /// The sender whose fragment completed most events, and its share of the events.
    #[must_use]
    pub fn slowest_source(&self) -> Option<(usize, f64)> {
        let last = |sender: usize| self.receivers.iter().filter_map(|node| node.last_from.get(sender)).sum::<u64>();
        let all: Vec<u64> = (0..self.senders.len()).map(last).collect();
        let sum: u64 = all.iter().sum();
        let (sender, most) = all.into_iter().enumerate().max_by_key(|(_, count)| *count)?;
        (sum > 0).then(|| (sender, most as f64 / sum as f64))
    }

    /// Events a second. With a trigger rate (`triggered`) n triggers have n - 1 gaps; without one, n events take the
    /// time from the first request on.
    #[must_use]
    pub fn events_per_second(&self, triggered: bool) -> f64 {
        let intervals = self.built.saturating_sub(u32::from(triggered));
        if self.seconds > 0.0 { f64::from(intervals) / self.seconds } else { 0.0 }
    }

    /// Payload bytes sent, payload bytes received, and the pair with the largest loss: sender, receiver and bytes.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64, Option<(usize, usize, u64)>) {
        let sum = |nodes: &[NodeCounters]| nodes.iter().map(|node| node.bytes + node.needless_bytes).sum();
        let pair = |nodes: &[NodeCounters], node: usize, other: usize| {
            nodes.get(node).and_then(|node| node.pairs.get(other)).copied().unwrap_or(0)
        };
        let all = (0..self.senders.len()).flat_map(|sender| (0..self.receivers.len()).map(move |to| (sender, to)));
        let lost = all.map(|(sender, receiver)| {
            let (left, came) = (pair(&self.senders, sender, receiver), pair(&self.receivers, receiver, sender));
            (sender, receiver, left.saturating_sub(came))
        });
        let whole = self.has_all_pairs();
        let worst = lost.filter(|_| whole).max_by_key(|(_, _, lost)| *lost).filter(|(_, _, lost)| *lost > 0);
        (sum(&self.senders), sum(&self.receivers), worst)
    }

    /// Payload bytes that receivers verified.
    #[must_use]
    pub fn verified(&self) -> u64 {
        self.receivers.iter().map(|node| node.verified.bytes).sum()
    }

    /// Checks that no receiver found wrong payload.
    pub(super) fn check_payload(&self) -> Result<()> {
        let wrong: u64 = self.receivers.iter().map(|node| node.verified.wrong).sum();
        let first = self.receivers.iter().enumerate().find_map(|(at, node)| Some((at, node.verified.first?)));
        let Some((receiver, WrongByte { event, sender, offset, came, sent })) = first else { return Ok(()) };
        Err(Error::Payload(format!(
            "{wrong} of its parts {} not what was sent: at receiver {receiver}, the first is of event {event} from \
             sender {sender}, whose byte {offset} was sent as {sent:#04x} and came as {came:#04x}; {ADVICE}",
            if wrong == 1 { "is" } else { "are" }
        )))
    }

    /// Whether the bytes of every pair are known at both ends: a lost receiver has no counters.
    #[must_use]
    pub fn has_all_pairs(&self) -> bool {
        self.receivers.len() == self.by_receiver.len()
    }

    /// Jain's index of the receivers' events: 1 when all built the same number.
    #[must_use]
    pub fn fairness(&self) -> f64 {
        let (sum, squares) = self.by_receiver.iter().fold((0.0, 0.0), |(sum, squares), one| {
            let one = f64::from(*one);
            (sum + one, squares + one * one)
        });
        if squares > 0.0 { sum * sum / (squares * self.by_receiver.len() as f64) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_twice_is_not_lost() {
        let (mut sender, mut receiver) = (NodeCounters::new(0, 1), NodeCounters::new(0, 1));
        for _ in 0..3 {
            sender.moved(0, 1_000);
        }
        receiver.moved(0, 1_000);
        receiver.not_needed(0, 1_000);
        let outcome = |receiver: &NodeCounters| BuildOutcome {
            by_receiver: vec![1],
            senders: vec![sender.clone()],
            receivers: vec![receiver.clone()],
            ..BuildOutcome::default()
        };
        assert_eq!(outcome(&receiver).bytes(), (3_000, 2_000, Some((0, 0, 1_000))));
        receiver.not_needed(0, 1_000);
        assert_eq!(outcome(&receiver).bytes(), (3_000, 3_000, None));
        assert_eq!((receiver.bytes, receiver.needless), (1_000, 2), "what was needed is told apart");
    }

    #[test]
    fn the_time_of_a_job_is_that_of_its_last_event_and_not_of_its_report() {
        let mut ledger = EventLedger::new(6, 2);
        let mut outcome = BuildOutcome { by_receiver: vec![0; 2], ..BuildOutcome::default() };
        outcome.count(Some(1), &[(1, 10), (3, 20)], 2_000_000, &mut ledger);
        outcome.count(Some(0), &[(0, 10)], 1_500_000, &mut ledger);
        // An event that is reported twice counts once, and its second time for nothing.
        outcome.count(Some(0), &[(3, 10)], 9_000_000, &mut ledger);
        assert_eq!((outcome.by_receiver.clone(), ledger.left(), ledger.refused), (vec![1, 2], 3, 1));
        assert!((outcome.seconds - 0.002).abs() < 1e-12, "{}", outcome.seconds);
        // Reports of nodes that are no receivers count for nothing.
        outcome.count(None, &[(2, 10)], 9_000_000, &mut ledger);
        outcome.count(Some(2), &[(2, 10)], 9_000_000, &mut ledger);
        assert_eq!((ledger.left(), outcome.latency.count()), (3, 3));
    }
}
