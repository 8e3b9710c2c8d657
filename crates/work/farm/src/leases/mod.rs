//! Assignment of chunks: a state machine without clock, thread or disk.
//!
//! A lease permits work and says nothing about counting: the ledger counts the first durable commit. A lease ends when
//! heartbeats are missing. Its chunk is then open again, while the earlier holder may still finish it first. Times are
//! seconds from any fixed moment.
//!
//! A failure is charged to the node until two nodes that have done something fail on the same chunk. A chunk never goes
//! back to a node that failed it while another node is left, and a node that only fails waits longer and longer.

mod checks;
mod failures;
mod nodes;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use self::checks::Checks;
use self::failures::{ChunkFailures, ReportedFailures};
use self::nodes::NodeRecords;
use crate::ChunkSet;

/// When leases end, and when a chunk is leased twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeaseRules {
    /// A lease ends this long after its last heartbeat, seconds.
    pub expiry: f64,
    /// Near the end, a chunk that takes this multiple of the typical time is leased to a second pilot as well; 0:
    /// never.
    pub speculate: f64,
    /// After this many failures a chunk is given up when no node is left that has not failed it.
    pub failures: u32,
    /// The share of chunks that are done twice on purpose, on different nodes: 0 to 1.
    pub verify: f64,
}

impl Default for LeaseRules {
    fn default() -> Self {
        Self { expiry: 10.0, speculate: 1.5, failures: 3, verify: 0.0 }
    }
}

/// Pilots that may hold a lease of one chunk at the same time, at most.
const MAX_HOLDERS: usize = 2;
/// Weight of the latest chunk in the moving average of durations.
const WEIGHT: f64 = 0.1;
/// Seconds after which a pilot without work asks again.
const RETRY: f64 = 0.2;
/// The same for a pilot that gets no more work.
const LONGEST_RETRY: f64 = 10.0;

/// The lease of one pilot.
#[derive(Debug, Clone, PartialEq)]
struct Hold {
    number: u64,
    pilot: String,
    /// When it was given; unknown after it had ended and was taken up again.
    since: Option<f64>,
    until: f64,
}

impl Hold {
    fn is(&self, number: u64, pilot: &str) -> bool {
        self.number == number && self.pilot == pilot
    }
}

#[derive(Debug, Clone)]
struct ChunkLeases {
    /// When the first of them was given.
    since: f64,
    holds: Vec<Hold>,
}

/// The answer to a pilot that asks for work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LeaseAnswer {
    /// Do this chunk.
    Lease {
        /// The chunk.
        chunk: u64,
        /// Number of the lease.
        number: u64,
        /// Whether another pilot holds a lease of it too, or its result is to be confirmed.
        again: bool,
    },
    /// There is nothing for this pilot now: ask again.
    Wait {
        /// After this many seconds.
        seconds: f64,
    },
    /// No chunk is left.
    Finished,
}

/// A lease that ended without a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expired {
    /// Its chunk.
    pub chunk: u64,
    /// The pilot that held it.
    pub pilot: String,
}

/// All leases of a run.
#[derive(Debug)]
pub struct Leases {
    rules: LeaseRules,
    chunks: u64,
    /// Chunks that this coordinator has never leased.
    fresh: Range<u64>,
    /// Chunks that were leased and are open again.
    returned: BTreeSet<u64>,
    held: BTreeMap<u64, ChunkLeases>,
    /// ChunkLeases chunks by the time of their first lease, in bits: the order of positive numbers is that of their
    /// bits.
    ages: BTreeSet<(u64, u64)>,
    counted: ChunkSet,
    failures: BTreeMap<u64, ChunkFailures>,
    reported: ReportedFailures,
    given_up: BTreeSet<u64>,
    /// Chunks given up since the last success of any node.
    charges: usize,
    nodes: NodeRecords,
    /// Nodes that are still to come.
    expected: usize,
    checks: Checks,
    /// (chunk, time): open chunks below this one may be leased to pilots of an earlier coordinator until this time.
    doubtful: Option<(u64, f64)>,
    typical: Option<f64>,
    next_number: u64,
}

impl Leases {
    /// Leases of a run in which some chunks are counted already. Chunks below `doubtful` that are not counted may be
    /// leased to pilots of an earlier coordinator: they are leased only after one expiry, unless their pilots report.
    /// `number` is the first lease number: a later coordinator never repeats one of an earlier one.
    #[must_use]
    pub fn new(rules: LeaseRules, chunks: u64, counted: ChunkSet, doubtful: u64, number: u64) -> Self {
        Self {
            rules,
            chunks,
            fresh: doubtful.min(chunks)..chunks,
            returned: BTreeSet::new(),
            held: BTreeMap::new(),
            ages: BTreeSet::new(),
            counted,
            failures: BTreeMap::new(),
            reported: ReportedFailures::default(),
            given_up: BTreeSet::new(),
            charges: 0,
            nodes: NodeRecords::default(),
            expected: 0,
            checks: Checks::default(),
            doubtful: (doubtful > 0).then_some((doubtful.min(chunks), rules.expiry)),
            typical: None,
            next_number: number,
        }
    }

    /// Counted chunks.
    #[must_use]
    pub const fn counted(&self) -> &ChunkSet {
        &self.counted
    }

    /// Chunks given up after too many failures.
    #[must_use]
    pub const fn given_up(&self) -> &BTreeSet<u64> {
        &self.given_up
    }

    /// Number of leased chunks.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Chunks that were to be confirmed by another node, and are not yet.
    #[must_use]
    pub fn unchecked(&self) -> usize {
        self.checks.left()
    }

    /// Whether no chunk is left.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.counted.count() + self.given_up.len() as u64 >= self.chunks
            && !self.checks.possible(|nodes| self.nodes.others_than(nodes))
    }

    /// The nodes, when every connected one only fails and no other one is to come, so that waiting helps no more.
    #[must_use]
    pub fn hopeless(&self) -> Option<Vec<String>> {
        self.nodes.hopeless(self.charges >= self.limit()).filter(|_| self.held.is_empty() && self.expected == 0)
    }

    /// Sets the number of nodes that were started and have not connected yet: they may do work that fails on all
    /// others.
    pub const fn expect(&mut self, nodes: usize) {
        self.expected = nodes;
    }

    /// A node computes wrongly: it gets no more work, and these chunks of it stop counting.
    pub fn distrust(&mut self, node: &str, chunks: &[u64]) {
        self.nodes.distrust(node);
        for chunk in chunks {
            self.counted.remove(*chunk);
            self.checks.close(*chunk);
            self.reopen(*chunk);
        }
    }

    /// Whether a node computes wrongly.
    #[must_use]
    pub fn is_distrusted(&self, node: &str) -> bool {
        self.nodes.is_distrusted(node)
    }

    /// A pilot of a node has connected.
    pub fn joined(&mut self, node: &str) {
        self.nodes.joined(node);
    }

    /// A pilot of a node is gone.
    pub fn left(&mut self, node: &str) {
        self.nodes.left(node);
    }

    /// Answers a pilot that asks for work.
    pub fn ask(&mut self, pilot: &str, node: &str, now: f64) -> LeaseAnswer {
        if self.finished() {
            return LeaseAnswer::Finished;
        }
        if self.nodes.is_distrusted(node) {
            return LeaseAnswer::Wait { seconds: LONGEST_RETRY };
        }
        if let Some(seconds) = self.nodes.benched(node, now) {
            return LeaseAnswer::Wait { seconds };
        }
        if let Some(chunk) = self.take_returned(node, now) {
            return self.give(chunk, pilot, node, now, false);
        }
        if let Some(chunk) = self.checks.next(node) {
            let number = self.number();
            self.checks.hold(chunk, self.new_hold(number, pilot, now));
            self.nodes.tried(node, now);
            return LeaseAnswer::Lease { chunk, number, again: true };
        }
        while let Some(chunk) = self.fresh.next() {
            if !self.is_over(chunk) && !self.held.contains_key(&chunk) {
                return self.give(chunk, pilot, node, now, false);
            }
        }
        match self.slowest(pilot, node, now) {
            Some(chunk) => self.give(chunk, pilot, node, now, true),
            None => LeaseAnswer::Wait { seconds: RETRY },
        }
    }

    fn is_over(&self, chunk: u64) -> bool {
        self.counted.contains(chunk) || self.given_up.contains(&chunk)
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number - 1
    }

    fn new_hold(&self, number: u64, pilot: &str, now: f64) -> Hold {
        Hold { number, pilot: pilot.to_owned(), since: Some(now), until: now + self.rules.expiry }
    }

    fn give(&mut self, chunk: u64, pilot: &str, node: &str, now: f64, again: bool) -> LeaseAnswer {
        let number = self.number();
        self.hold(chunk, number, pilot, now);
        self.nodes.tried(node, now);
        LeaseAnswer::Lease { chunk, number, again }
    }

    fn hold(&mut self, chunk: u64, number: u64, pilot: &str, now: f64) {
        let hold = self.new_hold(number, pilot, now);
        let ages = &mut self.ages;
        let held = self.held.entry(chunk).or_insert_with(|| {
            ages.insert((now.max(0.0).to_bits(), chunk));
            ChunkLeases { since: now.max(0.0), holds: Vec::new() }
        });
        held.holds.push(hold);
    }

    /// Forgets the leases of a chunk.
    fn release(&mut self, chunk: u64) {
        if let Some(held) = self.held.remove(&chunk) {
            self.ages.remove(&(held.since.to_bits(), chunk));
        }
    }

    /// The chunk that another pilot has held longest, when that exceeds the limit for speculation.
    fn slowest(&self, pilot: &str, node: &str, now: f64) -> Option<u64> {
        if self.rules.speculate <= 0.0 {
            return None;
        }
        let limit = self.rules.speculate * self.typical.unwrap_or(self.rules.expiry);
        let open = |chunk: &u64| {
            let free =
                |held: &ChunkLeases| held.holds.len() < MAX_HOLDERS && held.holds.iter().all(|one| one.pilot != pilot);
            let failed = self.failures.get(chunk).is_some_and(|failed| failed.nodes.iter().any(|known| known == node));
            self.held.get(chunk).is_some_and(free) && !failed
        };
        let old = self.ages.iter().take_while(|(since, _)| now - f64::from_bits(*since) > limit);
        old.map(|(_, chunk)| *chunk).find(open)
    }

    /// Renews a lease of this coordinator or an earlier one. Returns whether the result is still wanted.
    pub fn renew(&mut self, chunk: u64, number: u64, pilot: &str, now: f64) -> bool {
        let until = now + self.rules.expiry;
        if let Some(hold) = self.checks.held(chunk, number, pilot) {
            hold.until = until;
            return true;
        }
        if chunk >= self.chunks || self.is_over(chunk) {
            return false;
        }
        if let Some(held) = self.held.get_mut(&chunk) {
            held.holds.iter_mut().filter(|hold| hold.is(number, pilot)).for_each(|hold| hold.until = until);
        } else {
            // The lease had expired, or an earlier coordinator gave it. It is renewed while no other pilot has the
            // chunk.
            self.returned.remove(&chunk);
            self.hold(chunk, number, pilot, now);
            self.held.get_mut(&chunk).into_iter().flat_map(|held| &mut held.holds).for_each(|hold| hold.since = None);
        }
        true
    }

    /// Renews all leases, for a coordinator that could hear no heartbeats for some time.
    pub fn renew_all(&mut self, now: f64) {
        let until = now + self.rules.expiry;
        self.held.values_mut().flat_map(|held| &mut held.holds).for_each(|hold| hold.until = hold.until.max(until));
        self.checks.renew_all(until);
        if let Some((_, doubtful)) = &mut self.doubtful {
            *doubtful = doubtful.max(until);
        }
    }

    /// Seconds since a lease was given; `None` if it has ended, or an earlier coordinator gave it.
    pub fn age(&mut self, chunk: u64, number: u64, pilot: &str, now: f64) -> Option<f64> {
        if let Some(hold) = self.checks.held(chunk, number, pilot) {
            return hold.since.map(|since| now - since);
        }
        self.held.get(&chunk)?.holds.iter().find(|hold| hold.is(number, pilot))?.since.map(|since| now - since)
    }

    /// Ends leases whose heartbeats are missing, and reopens chunks that pilots of an earlier coordinator did not
    /// report.
    pub fn expire(&mut self, now: f64) -> Vec<Expired> {
        let mut expired = Vec::new();
        for (chunk, held) in &mut self.held {
            held.holds.retain(|hold| {
                let keep = hold.until > now;
                if !keep {
                    expired.push(Expired { chunk: *chunk, pilot: hold.pilot.clone() });
                }
                keep
            });
        }
        for one in &expired {
            if self.held.get(&one.chunk).is_some_and(|held| held.holds.is_empty()) {
                self.release(one.chunk);
            }
            self.reopen(one.chunk);
        }
        self.checks.expire(now);
        if let Some((below, until)) = self.doubtful
            && now >= until
        {
            self.doubtful = None;
            (0..below).for_each(|chunk| self.reopen(chunk));
        }
        expired
    }

    fn reopen(&mut self, chunk: u64) {
        if !self.held.contains_key(&chunk) && !self.is_over(chunk) {
            self.returned.insert(chunk);
        }
    }

    /// Marks a chunk as counted; `wall` updates the typical time of a chunk, seconds.
    pub fn count(&mut self, chunk: u64, node: &str, wall: Option<f64>) {
        let first = self.counted.insert(chunk);
        self.release(chunk);
        self.returned.remove(&chunk);
        self.given_up.remove(&chunk);
        self.failures.remove(&chunk);
        self.nodes.succeeded(node);
        self.charges = 0;
        if first && Checks::chosen(chunk, self.rules.verify) {
            self.checks.open(chunk, node);
        }
        if let Some(wall) = wall.filter(|wall| wall.is_finite() && *wall >= 0.0) {
            self.typical = Some(self.typical.map_or(wall, |typical| typical + WEIGHT * (wall - typical)));
        }
    }

    /// Whether a lease was given to confirm a counted result.
    pub fn is_check(&mut self, chunk: u64, number: u64, pilot: &str) -> bool {
        self.checks.held(chunk, number, pilot).is_some()
    }

    /// Notes the result of a check.
    pub fn checked(&mut self, chunk: u64, node: &str, differs: bool) {
        self.nodes.succeeded(node);
        self.checks.done(chunk, node, differs);
    }

    /// Ends a lease without result and without fault. A chunk that no other pilot holds is open again, unless it is
    /// over.
    pub fn drop_lease(&mut self, chunk: u64, number: u64, pilot: &str) {
        if let Some(held) = self.held.get_mut(&chunk) {
            held.holds.retain(|hold| !hold.is(number, pilot));
            if held.holds.is_empty() {
                self.release(chunk);
                self.reopen(chunk);
            }
        }
    }
}

/// Lease numbers of one coordinator: more than it gives in a year.
pub(crate) const GENERATION: u64 = 1 << 40;
