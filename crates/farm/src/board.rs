//! Live totals and rates of a running farm. Memory use does not grow with the length of the run.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use crate::ledger::{ChunkVerdict, Elsewhere, NodeTotals, OfferedResult};

/// Seconds over which the current rate is taken.
const WINDOW: u64 = 10;
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
    /// Events in each of the last seconds: (second, events).
    recent: VecDeque<(u64, u64)>,
    slots: u32,
    last_message: f64,
}

impl Sums {
    fn count(&mut self, offer: &OfferedResult, now: f64) {
        self.chunks += 1;
        self.events += offer.done.events;
        self.cpu += offer.done.cpu;
        self.wall += offer.done.wall;
        self.add_recent(offer.done.events, now);
    }

    fn add_recent(&mut self, events: u64, now: f64) {
        let second = now as u64;
        match self.recent.back_mut().filter(|(last, _)| *last == second) {
            Some((_, sum)) => *sum += events,
            None => self.recent.push_back((second, events)),
        }
        while self.recent.front().is_some_and(|(first, _)| first + WINDOW <= second) {
            self.recent.pop_front();
        }
    }

    fn refuse(&mut self, offer: &OfferedResult) {
        self.refused += 1;
        self.wasted += offer.done.cpu;
    }

    fn rate(&self, now: f64) -> f64 {
        let since = (now - WINDOW as f64).max(0.0);
        let events: u64 =
            self.recent.iter().filter(|(second, _)| *second as f64 >= since).map(|(_, events)| events).sum();
        events as f64 / (now - since).max(1.0)
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
    /// Totals of the other coordinators of the same run, as of the last exchange.
    elsewhere: Elsewhere,
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
    /// Events a second over the last seconds.
    pub rate_now: f64,
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
    /// Events a second over the last seconds.
    pub rate_now: f64,
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
    /// Totals that continue from what a ledger holds.
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
            }
        }
        board.before = board.all.events;
        board
    }

    /// Adds what other coordinators counted. The first call tells what was counted before this coordinator began.
    pub(crate) fn elsewhere(&mut self, theirs: Elsewhere, now: f64, first: bool) {
        let new = theirs.events.saturating_sub(self.elsewhere.events);
        if first {
            self.before = theirs.events;
        } else if new > 0 {
            self.all.add_recent(new, now);
        }
        self.elsewhere = theirs;
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

    pub(crate) fn joined(&mut self, node: &str, now: f64) {
        let sums = self.node(node);
        sums.slots += 1;
        sums.last_message = now;
    }

    pub(crate) fn left(&mut self, node: &str) {
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
    pub(crate) fn slots(&self) -> u32 {
        self.nodes.values().map(|sums| sums.slots).sum()
    }

    pub(crate) fn snapshot(&self, now: f64, chunks: u64, held: u64, given_up: u64, events: u64) -> FarmSnapshot {
        let theirs = &self.elsewhere;
        let counted_events = self.all.events + theirs.events;
        let so_far = counted_events.saturating_sub(self.before) as f64 / now.max(1e-9);
        let left = events.saturating_sub(counted_events) as f64;
        let (cpu, wall) = (self.all.cpu + theirs.cpu, self.all.wall + theirs.wall);
        let node = |(name, sums): (&String, &Sums)| NodeSnapshot {
            node: name.clone(),
            slots: sums.slots,
            chunks: sums.chunks,
            events: sums.events,
            rate_now: sums.rate(now),
            efficiency: sums.efficiency(),
            refused: sums.refused,
            silent: (sums.last_message > 0.0).then_some(now - sums.last_message),
        };
        FarmSnapshot {
            elapsed: now,
            chunks,
            counted: self.all.chunks + theirs.chunks,
            held,
            given_up,
            events: counted_events,
            rate_now: self.all.rate(now),
            rate_so_far: so_far,
            eta: (so_far > 0.0).then_some(left / so_far),
            efficiency: (wall > 0.0).then(|| cpu / wall),
            refused: self.all.refused + theirs.refused,
            wasted: self.all.wasted + theirs.wasted,
            expired: self.expired,
            strangers: self.strangers,
            nodes: self.nodes.iter().map(node).collect(),
        }
    }
}
