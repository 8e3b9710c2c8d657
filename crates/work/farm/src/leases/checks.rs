//! Chunks that are done twice on purpose, on different nodes, to find a machine that computes wrongly.

use std::collections::BTreeMap;

use super::Hold;

/// Open checks that are looked at for one question, at most.
const SEEN: usize = 64;

/// A counted chunk whose result is to be confirmed.
#[derive(Debug, Clone)]
struct OpenCheck {
    /// Nodes that have done it, or could not.
    nodes: Vec<String>,
    hold: Option<Hold>,
}

/// All open checks.
#[derive(Debug, Default)]
pub(super) struct Checks {
    open: BTreeMap<u64, OpenCheck>,
}

impl Checks {
    /// Whether a chunk is in the chosen share, by a hash of its number (the finaliser of SplitMix64, Steele and others
    /// 2014), so that every coordinator of a run chooses the same.
    pub(super) fn chosen(chunk: u64, share: f64) -> bool {
        let mut hash = chunk.wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^= hash >> 31;
        ((hash >> 11) as f64) * 2_f64.powi(-53) < share
    }

    pub(super) fn open(&mut self, chunk: u64, node: &str) {
        self.open.insert(chunk, OpenCheck { nodes: vec![node.to_owned()], hold: None });
    }

    /// The result of a chunk does not count any more.
    pub(super) fn close(&mut self, chunk: u64) {
        self.open.remove(&chunk);
    }

    /// A chunk that this node can check.
    pub(super) fn next(&self, node: &str) -> Option<u64> {
        let fits = |check: &OpenCheck| check.hold.is_none() && !check.nodes.iter().any(|known| known == node);
        self.open.iter().take(SEEN).find(|(_, check)| fits(check)).map(|(chunk, _)| *chunk)
    }

    pub(super) fn hold(&mut self, chunk: u64, hold: Hold) {
        if let Some(check) = self.open.get_mut(&chunk) {
            check.hold = Some(hold);
        }
    }

    /// The lease of a check, if it is this one.
    pub(super) fn held(&mut self, chunk: u64, number: u64, pilot: &str) -> Option<&mut Hold> {
        self.open.get_mut(&chunk)?.hold.as_mut().filter(|hold| hold.is(number, pilot))
    }

    /// A node has given its result, or cannot. When results differ, a further node is asked which one is right.
    pub(super) fn done(&mut self, chunk: u64, node: &str, differs: bool) {
        let Some(check) = self.open.get_mut(&chunk) else { return };
        check.hold = None;
        check.nodes.push(node.to_owned());
        if !differs || check.nodes.len() > 2 {
            self.open.remove(&chunk);
        }
    }

    pub(super) fn failed(&mut self, chunk: u64, node: &str) {
        if let Some(check) = self.open.get_mut(&chunk) {
            check.hold = None;
            check.nodes.push(node.to_owned());
        }
    }

    pub(super) fn expire(&mut self, now: f64) {
        for check in self.open.values_mut() {
            if check.hold.as_ref().is_some_and(|hold| hold.until <= now) {
                check.hold = None;
            }
        }
    }

    /// Lets all leases last until a moment at least.
    pub(super) fn renew_all(&mut self, until: f64) {
        self.open
            .values_mut()
            .filter_map(|check| check.hold.as_mut())
            .for_each(|hold| hold.until = hold.until.max(until));
    }

    /// Whether a check is being done, or one of the live nodes could do one.
    pub(super) fn possible(&self, others_than: impl Fn(&[String]) -> bool) -> bool {
        self.open.values().any(|check| check.hold.is_some() || others_than(&check.nodes))
    }

    pub(super) fn left(&self) -> usize {
        self.open.len()
    }
}
