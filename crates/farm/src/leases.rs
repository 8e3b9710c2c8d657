//! Who may do which chunk: a state machine without clock, thread or disk.
//!
//! A lease is a promise of work, never of counting: what counts is the first durable commit (the ledger's business).
//! Leases end by missing heartbeats; the chunk is then open again, while who held it may still be at it and may still
//! be first. Times are seconds from any fixed moment.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use crate::ChunkSet;

/// When leases end and when a chunk is given out twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeaseRules {
    /// A lease ends this long after its last heartbeat, seconds.
    pub expiry: f64,
    /// Near the end, a chunk that took this many times the usual is given to a second pilot; 0: never.
    pub speculate: f64,
    /// After this many failures a chunk is given up.
    pub failures: u32,
}

impl Default for LeaseRules {
    fn default() -> Self {
        Self { expiry: 10.0, speculate: 1.5, failures: 3 }
    }
}

/// A chunk is held by at most so many pilots whose heartbeats come.
const COPIES: usize = 2;
/// Weight of the latest chunk in the usual duration.
const WEIGHT: f64 = 0.1;

#[derive(Debug, Clone, PartialEq)]
struct Hold {
    number: u64,
    pilot: String,
    since: f64,
    until: f64,
}

/// What a pilot that asks for work is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseAnswer {
    /// Do this.
    Lease {
        /// Which chunk.
        chunk: u64,
        /// Number of the lease.
        number: u64,
        /// Whether another pilot is at it too.
        speculative: bool,
    },
    /// All is given out, not all is counted: ask again.
    Wait,
    /// There is nothing left to do.
    Finished,
}

/// A lease that ended without commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expired {
    /// Of which chunk.
    pub chunk: u64,
    /// Whose it was.
    pub pilot: String,
}

/// The part of one coordinator in a run that several share.
#[derive(Debug, Default)]
struct CoordinatorPart {
    /// Its blocks, by number, those that are not known to be done everywhere.
    blocks: BTreeMap<u64, Range<u64>>,
    /// No block of the whole run is left.
    over: bool,
}

/// All leases of a run.
#[derive(Debug)]
pub struct Leases {
    rules: LeaseRules,
    chunks: u64,
    /// Chunks that were never given out by this coordinator.
    fresh: VecDeque<Range<u64>>,
    /// Of a run that several coordinators share, this one's part.
    part: Option<CoordinatorPart>,
    /// Given out once, and open again.
    returned: BTreeSet<u64>,
    held: BTreeMap<u64, Vec<Hold>>,
    counted: ChunkSet,
    failures: BTreeMap<u64, u32>,
    given_up: BTreeSet<u64>,
    /// Chunks below the first that are open may be in the hands of pilots of an earlier coordinator until the second.
    doubtful: Option<(u64, f64)>,
    usual: Option<f64>,
    next_number: u64,
}

impl Leases {
    /// Of a run with some chunks counted already. Those not counted below `doubtful` may be at pilots of an earlier
    /// coordinator: they are given out only after one expiry, unless their pilots report.
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
            usual: None,
            next_number: 1,
        }
    }

    /// Of a coordinator that shares a run of so many chunks with others: it has none until some are granted.
    #[must_use]
    pub fn shared(rules: LeaseRules, chunks: u64) -> Self {
        let part = Some(CoordinatorPart::default());
        Self { fresh: VecDeque::new(), part, ..Self::new(rules, chunks, ChunkSet::new(chunks), 0, 0.0) }
    }

    /// A block of chunks is this coordinator's from now on.
    pub fn grant(&mut self, block: u64, chunks: Range<u64>) {
        if let Some(part) = &mut self.part {
            part.blocks.insert(block, chunks.clone());
            self.fresh.push_back(chunks);
        }
    }

    /// All blocks are somebody else's from now on. What pilots are at goes on.
    pub fn lose(&mut self) {
        if let Some(part) = &mut self.part {
            part.blocks.clear();
            self.fresh.clear();
            self.returned.clear();
        }
    }

    /// No block is left, here or elsewhere.
    pub fn end(&mut self) {
        if let Some(part) = &mut self.part {
            part.over = true;
        }
    }

    /// Blocks of which nothing is left to do; each is told once.
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

    /// Chunks that could be given out at once.
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

    /// Lease numbers begin here: later coordinators must not repeat those of earlier ones.
    pub fn number_from(&mut self, number: u64) {
        self.next_number = self.next_number.max(number);
    }

    /// Which chunks count.
    #[must_use]
    pub const fn counted(&self) -> &ChunkSet {
        &self.counted
    }

    /// Chunks that failed too often.
    #[must_use]
    pub const fn given_up(&self) -> &BTreeSet<u64> {
        &self.given_up
    }

    /// Chunks in the hands of pilots.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Whether nothing is left to do.
    #[must_use]
    pub fn finished(&self) -> bool {
        match &self.part {
            Some(part) => part.over,
            None => self.counted.count() + self.given_up.len() as u64 >= self.chunks,
        }
    }

    /// What a pilot shall do next.
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

    /// The chunk that was longest at one other pilot, when that is longer than usual.
    fn slowest(&self, pilot: &str, now: f64) -> Option<u64> {
        let patience = self.rules.speculate * self.usual.unwrap_or(self.rules.expiry);
        let open = |holds: &Vec<Hold>| holds.len() < COPIES && holds.iter().all(|hold| hold.pilot != pilot);
        let began = |holds: &Vec<Hold>| holds.iter().map(|hold| hold.since).fold(f64::INFINITY, f64::min);
        self.held
            .iter()
            .filter(|(_, holds)| self.rules.speculate > 0.0 && open(holds) && now - began(holds) > patience)
            .min_by(|a, b| began(a.1).total_cmp(&began(b.1)))
            .map(|(chunk, _)| *chunk)
    }

    /// A heartbeat for a lease that was given, by this coordinator or an earlier one. Whether the result is still wanted.
    pub fn renew(&mut self, chunk: u64, number: u64, pilot: &str, now: f64) -> bool {
        if chunk >= self.chunks || self.is_over(chunk) {
            return false;
        }
        let until = now + self.rules.expiry;
        if let Some(holds) = self.held.get_mut(&chunk) {
            holds.iter_mut().filter(|hold| hold.number == number).for_each(|hold| hold.until = until);
        } else {
            // It had ended, or this coordinator did not know of it. While nobody else has it, it goes on.
            self.returned.remove(&chunk);
            self.hold(chunk, number, pilot, now);
        }
        true
    }

    /// Ends the leases whose heartbeats are missing, and opens what an earlier coordinator's pilots did not report.
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

    /// A chunk has been counted; how long it took serves to know what is slow.
    pub fn count(&mut self, chunk: u64, wall: f64) {
        self.counted.insert(chunk);
        self.held.remove(&chunk);
        self.returned.remove(&chunk);
        self.given_up.remove(&chunk);
        self.failures.remove(&chunk);
        if wall.is_finite() && wall >= 0.0 {
            self.usual = Some(self.usual.map_or(wall, |usual| usual + WEIGHT * (wall - usual)));
        }
    }

    /// A chunk could not be done under this lease. Whether it is given up.
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
        let hopeless = *failures >= self.rules.failures && !self.held.contains_key(&chunk);
        if hopeless {
            self.given_up.insert(chunk);
            self.returned.remove(&chunk);
        } else {
            self.reopen(chunk);
        }
        hopeless
    }
}
