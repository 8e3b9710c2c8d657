//! Who may do which chunk: a state machine without clock, thread or disk.
//!
//! A lease permits work and says nothing about counting: the ledger counts the first durable commit. A lease ends when
//! heartbeats are missing. Its chunk is then open again, while the earlier holder may still finish it first. Times are
//! seconds from any fixed moment.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use crate::ChunkSet;

/// When leases end, and when a chunk is leased twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeaseRules {
    /// A lease ends this long after its last heartbeat, seconds.
    pub expiry: f64,
    /// Near the end, a chunk that takes this many times the typical time is leased to a second pilot as well; 0: never.
    pub speculate: f64,
    /// After this many failures a chunk is given up.
    pub failures: u32,
}

impl Default for LeaseRules {
    fn default() -> Self {
        Self { expiry: 10.0, speculate: 1.5, failures: 3 }
    }
}

/// Pilots that may hold a lease of one chunk at the same time, at most.
const MAX_HOLDERS: usize = 2;
/// Weight of the latest chunk in the moving average of durations.
const WEIGHT: f64 = 0.1;

#[derive(Debug, Clone, PartialEq)]
struct Hold {
    number: u64,
    pilot: String,
    since: f64,
    until: f64,
}

/// The answer to a pilot that asks for work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseAnswer {
    /// Do this chunk.
    Lease {
        /// The chunk.
        chunk: u64,
        /// Number of the lease.
        number: u64,
        /// Whether another pilot holds a lease of it too.
        speculative: bool,
    },
    /// All chunks are leased, not all are counted: ask again.
    Wait,
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

/// The part of one coordinator in a shared run.
#[derive(Debug, Default)]
struct CoordinatorPart {
    /// Its blocks by number, without those known to be finished.
    blocks: BTreeMap<u64, Range<u64>>,
    /// No block of the whole run is left.
    over: bool,
}

/// All leases of a run.
#[derive(Debug)]
pub struct Leases {
    rules: LeaseRules,
    chunks: u64,
    /// Chunks that this coordinator has never leased.
    fresh: VecDeque<Range<u64>>,
    /// This coordinator's part of a shared run; `None` where it has the whole run.
    part: Option<CoordinatorPart>,
    /// Chunks that were leased and are open again.
    returned: BTreeSet<u64>,
    held: BTreeMap<u64, Vec<Hold>>,
    counted: ChunkSet,
    failures: BTreeMap<u64, u32>,
    given_up: BTreeSet<u64>,
    /// (chunk, time): open chunks below this one may be leased to pilots of an earlier coordinator until this time.
    doubtful: Option<(u64, f64)>,
    typical: Option<f64>,
    next_number: u64,
}

impl Leases {
    /// Leases of a run in which some chunks are counted already. Chunks below `doubtful` that are not counted may be
    /// leased to pilots of an earlier coordinator: they are leased only after one expiry, unless their pilots report.
    #[must_use]
    pub fn new(rules: LeaseRules, chunks: u64, counted: ChunkSet, doubtful: u64, now: f64) -> Self {
        Self {
            rules,
            chunks,
            fresh: std::iter::once(doubtful.min(chunks)..chunks).collect(),
            part: None,
            returned: BTreeSet::new(),
            held: BTreeMap::new(),
            counted,
            failures: BTreeMap::new(),
            given_up: BTreeSet::new(),
            doubtful: (doubtful > 0).then_some((doubtful.min(chunks), now + rules.expiry)),
            typical: None,
            next_number: 1,
        }
    }

    /// Leases of a coordinator in a shared run: it has no chunks until blocks are granted.
    #[must_use]
    pub fn shared(rules: LeaseRules, chunks: u64) -> Self {
        let part = Some(CoordinatorPart::default());
        Self { fresh: VecDeque::new(), part, ..Self::new(rules, chunks, ChunkSet::new(chunks), 0, 0.0) }
    }

    /// Adds a block of chunks to this coordinator's part.
    pub fn grant(&mut self, block: u64, chunks: Range<u64>) {
        if let Some(part) = &mut self.part {
            part.blocks.insert(block, chunks.clone());
            self.fresh.push_back(chunks);
        }
    }

    /// Removes all blocks from this coordinator's part. Leases that pilots hold go on.
    pub fn lose(&mut self) {
        if let Some(part) = &mut self.part {
            part.blocks.clear();
            self.fresh.clear();
            self.returned.clear();
        }
    }

    /// Notes that no block is left, here or elsewhere.
    pub fn end(&mut self) {
        if let Some(part) = &mut self.part {
            part.over = true;
        }
    }

    /// Blocks that became finished since the last call.
    pub fn finished_blocks(&mut self) -> Vec<u64> {
        let Some(mut part) = self.part.take() else { return Vec::new() };
        let done = |chunks: &Range<u64>| chunks.clone().all(|chunk| self.is_over(chunk));
        let finished: Vec<u64> =
            part.blocks.iter().filter(|(_, chunks)| done(chunks)).map(|(block, _)| *block).collect();
        for block in &finished {
            part.blocks.remove(block);
        }
        self.part = Some(part);
        finished
    }

    /// Chunks that can be leased at once.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.returned.len() as u64 + self.fresh.iter().map(|range| range.end - range.start).sum::<u64>()
    }

    fn is_ours(&self, chunk: u64) -> bool {
        self.part.as_ref().is_none_or(|part| {
            // Blocks do not overlap and are numbered in the order of their chunks.
            let before = part.blocks.range(..).rev().find(|(_, chunks)| chunks.start <= chunk);
            before.is_some_and(|(_, chunks)| chunks.contains(&chunk))
        })
    }

    /// Sets the next lease number: later coordinators must not repeat those of earlier ones.
    pub fn number_from(&mut self, number: u64) {
        self.next_number = self.next_number.max(number);
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

    /// Whether no chunk is left.
    #[must_use]
    pub fn finished(&self) -> bool {
        match &self.part {
            Some(part) => part.over,
            None => self.counted.count() + self.given_up.len() as u64 >= self.chunks,
        }
    }

    /// Answers a pilot that asks for work.
    pub fn ask(&mut self, pilot: &str, now: f64) -> LeaseAnswer {
        if self.finished() {
            return LeaseAnswer::Finished;
        }
        while let Some(chunk) = self.returned.pop_first() {
            if !self.is_over(chunk) {
                return self.give(chunk, pilot, now, false);
            }
        }
        while let Some(range) = self.fresh.front_mut() {
            match range.next() {
                None => drop(self.fresh.pop_front()),
                Some(chunk) if self.is_over(chunk) || self.held.contains_key(&chunk) => {}
                Some(chunk) => return self.give(chunk, pilot, now, false),
            }
        }
        self.slowest(pilot, now).map_or(LeaseAnswer::Wait, |chunk| self.give(chunk, pilot, now, true))
    }

    fn is_over(&self, chunk: u64) -> bool {
        self.counted.contains(chunk) || self.given_up.contains(&chunk)
    }

    fn give(&mut self, chunk: u64, pilot: &str, now: f64, speculative: bool) -> LeaseAnswer {
        let number = self.next_number;
        self.next_number += 1;
        self.hold(chunk, number, pilot, now);
        LeaseAnswer::Lease { chunk, number, speculative }
    }

    fn hold(&mut self, chunk: u64, number: u64, pilot: &str, now: f64) {
        let hold = Hold { number, pilot: pilot.to_owned(), since: now, until: now + self.rules.expiry };
        self.held.entry(chunk).or_default().push(hold);
    }

    /// The chunk that another pilot has held longest, when that exceeds the limit for speculation.
    fn slowest(&self, pilot: &str, now: f64) -> Option<u64> {
        let limit = self.rules.speculate * self.typical.unwrap_or(self.rules.expiry);
        let open = |holds: &Vec<Hold>| holds.len() < MAX_HOLDERS && holds.iter().all(|hold| hold.pilot != pilot);
        let began = |holds: &Vec<Hold>| holds.iter().map(|hold| hold.since).fold(f64::INFINITY, f64::min);
        self.held
            .iter()
            .filter(|(_, holds)| self.rules.speculate > 0.0 && open(holds) && now - began(holds) > limit)
            .min_by(|a, b| began(a.1).total_cmp(&began(b.1)))
            .map(|(chunk, _)| *chunk)
    }

    /// Renews a lease of this coordinator or an earlier one. Returns whether the result is still wanted.
    pub fn renew(&mut self, chunk: u64, number: u64, pilot: &str, now: f64) -> bool {
        if chunk >= self.chunks || self.is_over(chunk) {
            return false;
        }
        let until = now + self.rules.expiry;
        if let Some(holds) = self.held.get_mut(&chunk) {
            holds.iter_mut().filter(|hold| hold.number == number).for_each(|hold| hold.until = until);
        } else {
            // The lease had expired, or an earlier coordinator gave it. It is renewed while no other pilot has the
            // chunk.
            self.returned.remove(&chunk);
            self.hold(chunk, number, pilot, now);
        }
        true
    }

    /// Ends leases whose heartbeats are missing, and reopens chunks that pilots of an earlier coordinator did not
    /// report.
    pub fn expire(&mut self, now: f64) -> Vec<Expired> {
        let mut expired = Vec::new();
        for (chunk, holds) in &mut self.held {
            holds.retain(|hold| {
                let keep = hold.until > now;
                if !keep {
                    expired.push(Expired { chunk: *chunk, pilot: hold.pilot.clone() });
                }
                keep
            });
        }
        self.held.retain(|_, holds| !holds.is_empty());
        for one in &expired {
            self.reopen(one.chunk);
        }
        if let Some((below, until)) = self.doubtful
            && now >= until
        {
            self.doubtful = None;
            (0..below).for_each(|chunk| self.reopen(chunk));
        }
        expired
    }

    fn reopen(&mut self, chunk: u64) {
        if !self.held.contains_key(&chunk) && !self.is_over(chunk) && self.is_ours(chunk) {
            self.returned.insert(chunk);
        }
    }

    /// Marks a chunk as counted; `wall` updates the typical time of a chunk, seconds.
    pub fn count(&mut self, chunk: u64, wall: f64) {
        self.counted.insert(chunk);
        self.held.remove(&chunk);
        self.returned.remove(&chunk);
        self.given_up.remove(&chunk);
        self.failures.remove(&chunk);
        if wall.is_finite() && wall >= 0.0 {
            self.typical = Some(self.typical.map_or(wall, |typical| typical + WEIGHT * (wall - typical)));
        }
    }

    /// Notes that a chunk failed under this lease. Returns whether it is given up.
    pub fn fail(&mut self, chunk: u64, number: u64) -> bool {
        if chunk >= self.chunks || self.is_over(chunk) {
            return false;
        }
        if let Some(holds) = self.held.get_mut(&chunk) {
            holds.retain(|hold| hold.number != number);
            if holds.is_empty() {
                self.held.remove(&chunk);
            }
        }
        if !self.is_ours(chunk) {
            return false;
        }
        let failures = self.failures.entry(chunk).or_default();
        *failures += 1;
        let given_up_now = *failures >= self.rules.failures && !self.held.contains_key(&chunk);
        if given_up_now {
            self.given_up.insert(chunk);
            self.returned.remove(&chunk);
        } else {
            self.reopen(chunk);
        }
        given_up_now
    }
}
