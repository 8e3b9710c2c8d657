//! Nodes that may get work: a node on which everything fails asks most often, and would consume the run.

use std::collections::BTreeMap;

/// Failures in a row after which a node is benched.
const BENCHED_AFTER: u32 = 2;
/// First and longest time on the bench, seconds; it doubles with every further failure.
const BENCH: (f64, f64) = (0.5, 60.0);
/// Failures in a row up to which a node that has done something is believed that a chunk is at fault.
const BELIEVED: u32 = 3;
/// Failures in a row after which nothing more is expected of a node.
const HOPELESS: u32 = 5;

/// The record of one node, since this coordinator began.
#[derive(Debug, Clone, Default)]
struct NodeRecord {
    /// Connected pilots.
    slots: u32,
    successes: u64,
    /// Failures since the last success, without those charged to chunks.
    streak: u32,
    /// On the bench until this time.
    until: f64,
    /// It computes wrongly and gets no more work.
    is_distrusted: bool,
}

impl NodeRecord {
    /// Whether it has pilots that are given work.
    const fn is_live(&self) -> bool {
        self.slots > 0 && !self.is_distrusted
    }

    fn bench(&self) -> f64 {
        if self.streak < BENCHED_AFTER {
            return 0.0;
        }
        (BENCH.0 * 2_f64.powi((self.streak - BENCHED_AFTER).min(20).cast_signed())).min(BENCH.1)
    }
}

#[derive(Debug, Default)]
pub(super) struct NodeRecords {
    nodes: BTreeMap<String, NodeRecord>,
}

impl NodeRecords {
    fn of(&mut self, node: &str) -> &mut NodeRecord {
        self.nodes.entry(node.to_owned()).or_default()
    }

    pub(super) fn joined(&mut self, node: &str) {
        self.of(node).slots += 1;
    }

    pub(super) fn left(&mut self, node: &str) {
        let record = self.of(node);
        record.slots = record.slots.saturating_sub(1);
    }

    pub(super) fn distrust(&mut self, node: &str) {
        self.of(node).is_distrusted = true;
    }

    pub(super) fn is_distrusted(&self, node: &str) -> bool {
        self.nodes.get(node).is_some_and(|record| record.is_distrusted)
    }

    /// Seconds that a node still has to wait; `None` if it may work.
    pub(super) fn benched(&self, node: &str, now: f64) -> Option<f64> {
        self.nodes.get(node).map(|record| record.until - now).filter(|left| *left > 0.0)
    }

    /// A lease is given to a node: while it is on trial, its other slots wait for what becomes of this one.
    pub(super) fn tried(&mut self, node: &str, now: f64) {
        if let Some(record) = self.nodes.get_mut(node).filter(|record| record.streak >= BENCHED_AFTER) {
            record.until = now + record.bench();
        }
    }

    pub(super) fn succeeded(&mut self, node: &str) {
        let record = self.of(node);
        record.successes += 1;
        (record.streak, record.until) = (0, 0.0);
    }

    pub(super) fn failed(&mut self, node: &str, now: f64) {
        let record = self.of(node);
        record.streak = record.streak.saturating_add(1);
        record.until = now + record.bench();
    }

    /// A failure was the chunk's fault.
    pub(super) fn forgive(&mut self, node: &str) {
        let record = self.of(node);
        record.streak = record.streak.saturating_sub(1);
        record.until = 0.0;
    }

    /// Whether a node has done something, and fails now and then at most.
    pub(super) fn is_believed(&self, node: &str) -> bool {
        self.nodes.get(node).is_some_and(|record| record.successes > 0 && record.streak <= BELIEVED)
    }

    pub(super) fn has_succeeded(&self, node: &str) -> bool {
        self.nodes.get(node).is_some_and(|record| record.successes > 0)
    }

    /// Number of nodes with pilots.
    pub(super) fn live(&self) -> usize {
        self.nodes.values().filter(|record| record.is_live()).count()
    }

    /// Whether a node other than these has pilots.
    pub(super) fn others_than(&self, known: &[String]) -> bool {
        self.nodes.iter().any(|(node, record)| record.is_live() && !known.contains(node))
    }

    /// Nodes with pilots if none of them can finish the run: those that did nothing yet, those that compute wrongly,
    /// and if no further chunk can be `charged_out`, those that did.
    pub(super) fn hopeless(&self, charged_out: bool) -> Option<Vec<String>> {
        let here: Vec<(&String, &NodeRecord)> = self.nodes.iter().filter(|(_, record)| record.slots > 0).collect();
        let fails = |record: &NodeRecord| record.streak >= HOPELESS && (charged_out || record.successes == 0);
        let none = !here.is_empty() && here.iter().all(|(_, record)| record.is_distrusted || fails(record));
        none.then(|| here.into_iter().map(|(node, _)| node.clone()).collect())
    }
}
