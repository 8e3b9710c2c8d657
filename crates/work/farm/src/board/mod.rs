//! Live totals and rates of a running farm. Memory use does not grow with the length of the run.

mod recent;

use std::collections::BTreeMap;

use serde::Serialize;

use self::recent::RecentCommits;
use crate::ledger::{ChunkVerdict, NodeTotals, OfferedResult};

/// Nodes counted one by one; further ones share one entry.
const MAX_NODES: usize = 4096;

/// Totals of one node, or of all.
#[derive(Debug, Clone, Default)]
struct Sums {
    chunks: u64,
    events: u64,
    cpu: f64,
    wall: f64,
    refused: u64,
    wasted: f64,
    failed: u64,
    recent: RecentCommits,
    slots: u32,
    last_message: f64,
}

impl Sums {
    fn count(&mut self, offer: &OfferedResult, now: f64) {
        self.chunks += 1;
        self.events += offer.done.events;
        if let (Some(cpu), Some(wall)) = (offer.done.cpu, offer.done.wall) {
            self.cpu += cpu;
            self.wall += wall;
        }
        self.recent.add(now, offer.done.events, self.slots);
    }

    fn refuse(&mut self, offer: &OfferedResult) {
        self.refused += 1;
        self.wasted += offer.done.cpu.unwrap_or_default();
    }

    /// Makes a counted result uncounted.
    fn withdraw(&mut self, offer: &OfferedResult) {
        self.chunks = self.chunks.saturating_sub(1);
        self.events = self.events.saturating_sub(offer.done.events);
        if let (Some(cpu), Some(wall)) = (offer.done.cpu, offer.done.wall) {
            self.cpu = (self.cpu - cpu).max(0.0);
            self.wall = (self.wall - wall).max(0.0);
        }
        self.refuse(offer);
    }

    fn efficiency(&self) -> Option<f64> {
        (self.wall > 0.0).then(|| self.cpu / self.wall)
    }
}

/// Totals of the whole farm and of its nodes.
#[derive(Debug, Default)]
pub(crate) struct FarmTotals {
    all: Sums,
    nodes: BTreeMap<String, Sums>,
    /// Events that were counted before this coordinator began.
    before: u64,
    strangers: u64,
    expired: u64,
}

/// One node at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeSnapshot {
    /// Name of the node.
    pub node: String,
    /// Connected pilots, one a slot.
    pub slots: u32,
    /// Chunks counted.
    pub chunks: u64,
    /// Events in those chunks.
    pub events: u64,
    /// Events a second over whole chunks of all its slots; `None` before each has done one.
    pub rate_now: Option<f64>,
    /// Chunks that failed on it.
    pub failed: u64,
    /// CPU time over wall time of its counted chunks.
    pub efficiency: Option<f64>,
    /// Duplicates refused.
    pub refused: u64,
    /// Seconds since its last message; `None` when it sent none.
    pub silent: Option<f64>,
}

/// The whole farm at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FarmSnapshot {
    /// Seconds since this coordinator began.
    pub elapsed: f64,
    /// Chunks planned.
    pub chunks: u64,
    /// Chunks counted.
    pub counted: u64,
    /// Chunks leased to pilots now.
    pub held: u64,
    /// Chunks given up after too many failures.
    pub given_up: u64,
    /// Events counted.
    pub events: u64,
    /// Chunks that a second node is still to confirm.
    pub unchecked: u64,
    /// Events a second over whole chunks of all slots; `None` before each has done one.
    pub rate_now: Option<f64>,
    /// Events a second since this coordinator began.
    pub rate_so_far: f64,
    /// Seconds until the end, at the rate so far.
    pub eta: Option<f64>,
    /// CPU time over wall time of the counted chunks.
    pub efficiency: Option<f64>,
    /// Duplicates refused.
    pub refused: u64,
    /// CPU time spent on refused duplicates, seconds.
    pub wasted: f64,
    /// Leases that expired without a heartbeat.
    pub expired: u64,
    /// Connections refused because the token was wrong.
    pub strangers: u64,
    /// By node, sorted by name.
    pub nodes: Vec<NodeSnapshot>,
}

impl FarmTotals {
    /// Totals that continue from those in a ledger.
    pub(crate) fn new(nodes: &[NodeTotals]) -> Self {
        let mut board = Self::default();
        for node in nodes {
            let sums = board.nodes.entry(node.node.clone()).or_default();
            for sums in [sums, &mut board.all] {
                sums.chunks += node.totals.commits;
                sums.events += node.totals.events;
                sums.cpu += node.totals.cpu;
                sums.wall += node.totals.wall;
                sums.refused += node.totals.refused;
                sums.wasted += node.totals.wasted;
                sums.failed += node.totals.failed;
            }
        }
        board.before = board.all.events;
        board
    }

    fn node(&mut self, name: &str) -> &mut Sums {
        let known = self.nodes.contains_key(name) || self.nodes.len() < MAX_NODES;
        self.nodes.entry(if known { name } else { "(others)" }.to_owned()).or_default()
    }

    pub(crate) fn record(&mut self, offer: &OfferedResult, verdict: ChunkVerdict, now: f64) {
        if verdict == ChunkVerdict::Counted {
            self.all.count(offer, now);
            self.node(&offer.node).count(offer, now);
        } else {
            self.all.refuse(offer);
            self.node(&offer.node).refuse(offer);
        }
    }

    pub(crate) fn withdraw(&mut self, offer: &OfferedResult) {
        self.all.withdraw(offer);
        self.node(&offer.node).withdraw(offer);
    }

    pub(crate) fn joined(&mut self, node: &str, now: f64) {
        self.all.slots += 1;
        let sums = self.node(node);
        sums.slots += 1;
        sums.last_message = now;
    }

    pub(crate) fn failed(&mut self, node: &str) {
        self.all.failed += 1;
        self.node(node).failed += 1;
    }

    pub(crate) fn left(&mut self, node: &str) {
        self.all.slots = self.all.slots.saturating_sub(1);
        let sums = self.node(node);
        sums.slots = sums.slots.saturating_sub(1);
    }

    pub(crate) fn received(&mut self, node: &str, now: f64) {
        self.node(node).last_message = now;
    }

    /// Counts one more refused connection and returns their number.
    pub(crate) fn stranger(&mut self) -> u64 {
        self.strangers += 1;
        self.strangers
    }

    pub(crate) fn expired(&mut self, leases: usize) {
        self.expired += leases as u64;
    }

    /// Number of connected pilots.
    pub(crate) const fn slots(&self) -> u32 {
        self.all.slots
    }

    /// The state at this moment; what only the leases know is 0.
    pub(crate) fn snapshot(&self, now: f64, chunks: u64, events: u64) -> FarmSnapshot {
        let so_far = self.all.events.saturating_sub(self.before) as f64 / now.max(1e-9);
        let left = events.saturating_sub(self.all.events) as f64;
        let rate_now = self.all.recent.rate(now);
        let rate = rate_now.unwrap_or(so_far);
        let node = |(name, sums): (&String, &Sums)| NodeSnapshot {
            node: name.clone(),
            slots: sums.slots,
            chunks: sums.chunks,
            events: sums.events,
            rate_now: sums.recent.rate(now),
            failed: sums.failed,
            efficiency: sums.efficiency(),
            refused: sums.refused,
            silent: (sums.last_message > 0.0).then_some(now - sums.last_message),
        };
        FarmSnapshot {
            elapsed: now,
            chunks,
            counted: self.all.chunks,
            held: 0,
            given_up: 0,
            unchecked: 0,
            events: self.all.events,
            rate_now,
            rate_so_far: so_far,
            eta: (rate > 0.0).then_some(left / rate),
            efficiency: self.all.efficiency(),
            refused: self.all.refused,
            wasted: self.all.wasted,
            expired: self.expired,
            strangers: self.strangers,
            nodes: self.nodes.iter().map(node).collect(),
        }
    }
}
