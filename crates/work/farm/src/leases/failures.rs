//! Chunks that fail: which node may try one again, and when it is given up.

use std::collections::BTreeSet;

use super::Leases;

/// First and longest pause before a chunk goes back to a node that failed it, seconds; it doubles.
const PAUSE: (f64, f64) = (0.5, 30.0);
/// Chunks that may be given up without a success of any node in between, at least: if more fail, something that all
/// nodes need is broken.
const CHARGES: usize = 8;

#[derive(Debug, Clone, Default)]
pub(super) struct ChunkFailures {
    pub(super) nodes: Vec<String>,
    pub(super) count: u32,
    /// No node that failed it gets it back before this time.
    pub(super) not_before: f64,
}

/// Lease numbers of the latest failures: a pilot whose reply was lost reports its failure again.
#[derive(Debug, Default)]
pub(super) struct ReportedFailures(BTreeSet<u64>);

impl ReportedFailures {
    /// Numbers that are kept, at most. A pilot reports again as soon as it is connected again.
    const KEPT: usize = 1 << 16;

    /// Notes a number; false if it was noted before.
    fn is_new(&mut self, number: u64) -> bool {
        let new = self.0.insert(number);
        if self.0.len() > Self::KEPT {
            self.0.pop_first();
        }
        new
    }
}

impl Leases {
    /// The first open chunk that this node may try.
    pub(super) fn take_returned(&mut self, node: &str, now: f64) -> Option<u64> {
        let may = |chunk: &&u64| {
            self.failures.get(*chunk).is_none_or(|failed| {
                let alone = || !self.nodes.others_than(&failed.nodes) && now >= failed.not_before;
                !failed.nodes.iter().any(|known| known == node) || alone()
            })
        };
        let chunk = self.returned.iter().find(may).copied()?;
        self.returned.remove(&chunk);
        Some(chunk)
    }

    /// Notes that a chunk failed under this lease. Returns whether it is given up; `None` if this failure was noted
    /// before.
    pub fn fail(&mut self, chunk: u64, number: u64, pilot: &str, node: &str, now: f64) -> Option<bool> {
        if !self.reported.is_new(number) {
            return None;
        }
        self.nodes.failed(node, now);
        if self.is_check(chunk, number, pilot) {
            self.checks.failed(chunk, node);
            return Some(false);
        }
        if chunk >= self.chunks || self.is_over(chunk) {
            return Some(false);
        }
        self.drop_lease(chunk, number, pilot);
        let failed = self.failures.entry(chunk).or_default();
        failed.count += 1;
        failed.not_before = now + (PAUSE.0 * 2_f64.powi(failed.count.min(20).cast_signed() - 1)).min(PAUSE.1);
        if !failed.nodes.iter().any(|known| known == node) {
            failed.nodes.push(node.to_owned());
        }
        let failed = failed.clone();
        let given_up = !self.held.contains_key(&chunk) && self.is_its_own_fault(&failed);
        if given_up {
            self.charges += 1;
            self.given_up.insert(chunk);
            self.returned.remove(&chunk);
            failed.nodes.iter().for_each(|node| self.nodes.forgive(node));
        } else {
            self.reopen(chunk);
        }
        Some(given_up)
    }

    /// Whether a chunk fails on two nodes that have done something, or too often where no other node is left.
    fn is_its_own_fault(&self, failed: &ChunkFailures) -> bool {
        let believed = failed.nodes.iter().filter(|node| self.nodes.is_believed(node)).count();
        let alone = self.expected == 0 && !self.nodes.others_than(&failed.nodes);
        let exhausted = failed.count >= self.rules.failures && alone;
        let able = || failed.nodes.iter().any(|node| self.nodes.has_succeeded(node));
        self.charges < self.limit() && (believed >= 2 || exhausted && able())
    }

    pub(super) fn limit(&self) -> usize {
        CHARGES.max(2 * self.nodes.live())
    }
}
