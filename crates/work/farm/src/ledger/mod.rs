//! The ledger decides what counts. A chunk counts once, by the first durable commit; every later result is refused and
//! kept on record.

mod lock;
mod read;
mod schema;
mod seal;
mod sqlite;
mod write;

use serde::{Deserialize, Serialize};

pub use sqlite::SqliteLedger;

use crate::clock::{FarmClock, Stamp};
use crate::job::{ChunkResult, FarmJob};
use crate::products::Product;
use crate::{ChunkSet, Result};

/// The word of incidents about damaged records.
pub const DAMAGED: &str = "damaged";

/// A run as its ledger holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Farm {
    /// Unique name of the run.
    pub id: String,
    /// The job.
    pub job: FarmJob,
    /// The token that pilots must know. It stays the same when a coordinator is restarted.
    pub token: String,
    /// The key that leases are signed with.
    pub key: String,
    /// Address of the coordinator, or of the last one; empty before the first.
    pub address: String,
    /// When it was planned, seconds since 1970.
    pub created: f64,
    /// Settings of the binary that a resumption needs; this crate does not interpret them.
    pub settings: serde_json::Value,
}

/// A result that a pilot offers.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedResult {
    /// The chunk.
    pub chunk: u64,
    /// Number of the lease.
    pub number: u64,
    /// The node where it was computed.
    pub node: String,
    /// The pilot that computed it.
    pub pilot: String,
    /// The result.
    pub done: ChunkResult,
    /// Its files.
    pub products: Vec<Product>,
    /// The chunk was done a second time on purpose, to confirm the result that counts.
    pub check: bool,
}

/// The ledger's decision about an offered result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ChunkVerdict {
    /// It is the first: it counts, and is on the disk.
    Counted,
    /// Another result came first; both are equal.
    Duplicate,
    /// Another result came first and differs: one of the two machines is wrong.
    Differs,
}

/// The ledger's decision on an offered result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedOffer {
    /// Its decision.
    pub verdict: ChunkVerdict,
    /// The same result was offered before and the reply to it was lost: nothing was added.
    pub again: bool,
}

/// A result that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// The result.
    pub offer: OfferedResult,
    /// When it was counted.
    pub when: Stamp,
}

/// A refused result.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The result.
    pub offer: OfferedResult,
    /// When.
    pub when: Stamp,
    /// Whether it differs from the counted one.
    pub differs: bool,
}

/// An event in the log of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// When, seconds since 1970 by the wall clock.
    pub at: f64,
    /// When, seconds since the run began.
    pub since: f64,
    /// One word: `started`, `resumed`, `joined`, `left`, `expired`, `speculated`, `refused`, `withdrawn`, `failed`,
    /// `stranger`, [`DAMAGED`] ...
    pub what: String,
    /// The node concerned; empty if none.
    pub node: String,
    /// The chunk concerned.
    pub chunk: Option<u64>,
    /// Details.
    pub detail: String,
}

impl Incident {
    /// The address at which a coordinator began to listen, where this says that one began.
    #[must_use]
    pub fn listened_at(&self) -> Option<&str> {
        let began = ["started", "resumed"].contains(&self.what.as_str());
        began.then(|| self.detail.strip_prefix("coordinator at ")?.split_once(", "))?.map(|(address, _)| address)
    }
}

/// Sums over a ledger, computed from its records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Counted results.
    pub commits: u64,
    /// Distinct chunks among them.
    pub distinct: u64,
    /// Events in them.
    pub events: u64,
    /// Sum of their digests, modulo 2^64.
    pub digest: u64,
    /// Their CPU time, seconds.
    pub cpu: f64,
    /// Their wall time, seconds.
    pub wall: f64,
    /// Refused duplicates.
    pub refused: u64,
    /// CPU time spent on those, seconds.
    pub wasted: f64,
    /// Refused results that differ from the counted one.
    pub differing: u64,
    /// Results of chunks that were done a second time on purpose, and agreed.
    pub confirmed: u64,
    /// Bytes that counted chunks read from storage, where that is known.
    pub read: u64,
    /// Bytes that counted chunks wrote as products.
    pub written: u64,
    /// Chunks that could not be done.
    pub failed: u64,
    /// Greatest lease number.
    pub number: u64,
}

/// Totals of one node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeTotals {
    /// Name of the node.
    pub node: String,
    /// Its totals.
    pub totals: Totals,
    /// First and last commit, seconds since the run began.
    pub span: (f64, f64),
    /// Its message when a chunk failed last.
    pub complaint: Option<String>,
}

/// A result that becomes uncounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    /// Its chunk.
    pub chunk: u64,
    /// Whether other nodes have another result.
    pub differs: bool,
    /// Why, for the story.
    pub why: String,
}

/// How a coordinator begins with a ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Begin {
    /// First lease number; no other coordinator uses the numbers from here on.
    pub lease: u64,
    /// It continues the work of an earlier coordinator.
    pub resumed: bool,
    /// Seconds since the run began.
    pub since: f64,
}

/// Durable storage of a farm's results.
pub trait Ledger: Send {
    /// The run.
    ///
    /// # Errors
    /// When the ledger cannot be read, as with all reading functions below.
    fn farm(&self) -> Result<Farm>;

    /// Registers a coordinator, its address and its lease numbers.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    fn begin(&mut self, address: &str, clock: &dyn FarmClock) -> Result<Begin>;

    /// Checks that others still find the ledger where it was opened.
    ///
    /// # Errors
    /// When it was deleted or replaced: says where its contents were written to, if they could be.
    fn check_place(&self) -> Result<()>;

    /// Checks that every record is still as it was written.
    ///
    /// # Errors
    /// When it cannot be read, or a record is damaged: says which, and what to do.
    fn check_records(&self) -> Result<()>;

    /// Counts or refuses offers, in their order, in one durable transaction: when this returns, the verdicts are final.
    /// A repeated offer, after a lost reply, gets the same verdict and one record.
    ///
    /// # Errors
    /// When the ledger cannot be written; none of the offers counts then.
    fn record(&mut self, offers: &[OfferedResult], when: Stamp) -> Result<Vec<RecordedOffer>>;

    /// Takes results back, in one durable transaction: their chunks are open again. Each becomes a refused result.
    ///
    /// # Errors
    /// When the ledger cannot be written; all of them count then.
    fn withdraw(&mut self, results: &[Withdrawal], when: Stamp) -> Result<()>;

    /// Adds incidents.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    fn note(&mut self, incidents: &[Incident]) -> Result<()>;

    /// Stores facts about a node and replaces earlier ones.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    fn describe(&mut self, node: &str, about: &serde_json::Value) -> Result<()>;

    /// The set of counted chunks.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn counted(&self) -> Result<ChunkSet>;

    /// The result of a chunk that counts.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn counted_result(&self, chunk: u64) -> Result<Option<Commit>>;

    /// Totals of the run.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn totals(&self) -> Result<Totals>;

    /// Totals by node, sorted by name.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn nodes(&self) -> Result<Vec<NodeTotals>>;

    /// Calls `each` with every counted result, in the order of commits.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn commits(&self, each: &mut dyn FnMut(Commit)) -> Result<()>;

    /// Calls `each` with every refused result, in the order of refusal.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn refusals(&self, each: &mut dyn FnMut(Refusal)) -> Result<()>;

    /// The incidents, in the order of time.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn incidents(&self) -> Result<Vec<Incident>>;

    /// Facts about nodes, by name.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    fn descriptions(&self) -> Result<Vec<(String, serde_json::Value)>>;
}
