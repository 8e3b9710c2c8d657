//! The ledger: what counts. A chunk counts once, by the first durable commit; everything later is refused and written down.

#[cfg(feature = "postgres")]
mod postgres;
mod schema;
mod sharing;
mod sqlite;

use serde::{Deserialize, Serialize};

#[cfg(feature = "postgres")]
pub use postgres::PostgresLedger;
pub use sharing::{CoordinatorReport, CoordinatorShare, Elsewhere, Grant, LedgerSharing};
pub use sqlite::SqliteLedger;

use crate::job::{ChunkResult, FarmJob};
use crate::{ChunkSet, Result};

/// A run as its ledger knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Farm {
    /// Name that no other run has.
    pub id: String,
    /// What is to be done.
    pub job: FarmJob,
    /// What lets pilots in: a later coordinator lets the same ones in.
    pub token: String,
    /// What leases are signed with.
    pub key: String,
    /// Where the coordinator listens, or the one before did; empty before any does.
    pub address: String,
    /// When it was planned, seconds since 1970.
    pub created: f64,
    /// How the binary started it: what a resumption needs, and this crate does not look into.
    pub settings: serde_json::Value,
}

/// A result that somebody offers.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedResult {
    /// Which chunk.
    pub chunk: u64,
    /// Number of the lease.
    pub number: u64,
    /// Node where it was done.
    pub node: String,
    /// Pilot that did it.
    pub pilot: String,
    /// What was done.
    pub done: ChunkResult,
}

/// What became of an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ChunkVerdict {
    /// It is the first: it counts, and is on the disk.
    Counted,
    /// Another came first; both results are equal.
    Duplicate,
    /// Another came first, and its result differs: one of the two machines is wrong.
    Differs,
}

/// A result that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// What was offered.
    pub offer: OfferedResult,
    /// When it was counted, seconds since 1970.
    pub at: f64,
}

/// A result that does not count.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// What was offered.
    pub offer: OfferedResult,
    /// When, seconds since 1970.
    pub at: f64,
    /// Whether it differs from the one that counts.
    pub differs: bool,
}

/// Something that a reader of the run's story should know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// When, seconds since 1970.
    pub at: f64,
    /// In a word: `started`, `resumed`, `joined`, `left`, `expired`, `speculated`, `refused`, `failed`, `stranger` ...
    pub what: String,
    /// Node that it is about; empty where none is.
    pub node: String,
    /// Chunk that it is about.
    pub chunk: Option<u64>,
    /// More.
    pub detail: String,
}

/// Sums over a ledger, computed from what is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Rows of results that count.
    pub commits: u64,
    /// Different chunks among them.
    pub distinct: u64,
    /// Events of them.
    pub events: u64,
    /// Sum of their digests, modulo 2^64.
    pub digest: u64,
    /// CPU time of them, seconds.
    pub cpu: f64,
    /// Time of them, seconds.
    pub wall: f64,
    /// Refused duplicates.
    pub refused: u64,
    /// CPU time that these wasted, seconds.
    pub wasted: f64,
    /// Refused ones whose result differs.
    pub differing: u64,
    /// Greatest number of a lease.
    pub number: u64,
}

/// What one node did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeTotals {
    /// Its name.
    pub node: String,
    /// Sums.
    pub totals: Totals,
    /// First and last commit, seconds since 1970.
    pub span: (f64, f64),
}

/// How a coordinator begins with a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begin {
    /// Its number among the coordinators of the run, from 1; 1 where only one may be there at a time.
    pub coordinator: u64,
    /// Leases are numbered from here: no other coordinator gives these numbers.
    pub lease: u64,
    /// It goes on with what one did that is no more, and nobody else is at it.
    pub resumed: bool,
}

/// Where a farm's results are kept for good.
pub trait Ledger: Send {
    /// The run.
    ///
    /// # Errors
    /// When the ledger cannot be read, as with all that follows.
    fn farm(&self) -> Result<Farm>;

    /// Writes down that a coordinator begins, and where it listens. It is taken for dead when nothing was heard of it for
    /// `expiry` seconds, where that matters.
    ///
    /// # Errors
    /// When it cannot be written.
    fn begin(&mut self, address: &str, expiry: f64) -> Result<Begin>;

    /// What lets several coordinators share the run; `None` where there is never more than one.
    fn sharing(&mut self) -> Option<&mut dyn LedgerSharing> {
        None
    }

    /// Counts or refuses offers, in their order, all in one durable step: when this returns, the verdicts hold for ever.
    ///
    /// # Errors
    /// When it cannot be written; none of the offers counts then.
    fn settle(&mut self, offers: &[OfferedResult], at: f64) -> Result<Vec<ChunkVerdict>>;

    /// Writes incidents down.
    ///
    /// # Errors
    /// When it cannot be written.
    fn note(&mut self, incidents: &[Incident]) -> Result<()>;

    /// Writes down what a node said of itself, over what it said before.
    ///
    /// # Errors
    /// When it cannot be written.
    fn describe(&mut self, node: &str, about: &serde_json::Value) -> Result<()>;

    /// Which chunks count.
    ///
    /// # Errors
    /// When it cannot be read.
    fn counted(&self) -> Result<ChunkSet>;

    /// Sums over everything.
    ///
    /// # Errors
    /// When it cannot be read.
    fn totals(&self) -> Result<Totals>;

    /// Sums by node, in the order of their names.
    ///
    /// # Errors
    /// When it cannot be read.
    fn nodes(&self) -> Result<Vec<NodeTotals>>;

    /// Every result that counts, in the order of counting.
    ///
    /// # Errors
    /// When it cannot be read.
    fn commits(&self, each: &mut dyn FnMut(Commit)) -> Result<()>;

    /// Every refused one, in the order of refusal.
    ///
    /// # Errors
    /// When it cannot be read.
    fn refusals(&self, each: &mut dyn FnMut(Refusal)) -> Result<()>;

    /// The story, in the order of time.
    ///
    /// # Errors
    /// When it cannot be read.
    fn incidents(&self) -> Result<Vec<Incident>>;

    /// What nodes said of themselves.
    ///
    /// # Errors
    /// When it cannot be read.
    fn descriptions(&self) -> Result<Vec<(String, serde_json::Value)>>;
}

/// Seconds since 1970.
#[must_use]
pub fn now() -> f64 {
    sys::clock::realtime() as f64 * 1e-9
}
