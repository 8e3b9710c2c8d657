//! How several coordinators of one run share it through their ledger: which are alive, and which chunks each of them
//! has.
//!
//! Coordinators claim chunks in blocks. A coordinator without an exchange for its own expiry is taken for dead: its
//! number is closed, so that no more can be written under it (a fence), and its blocks become free. A coordinator that
//! was only paused finds its number closed, continues under a new one without blocks, and offers its results like any
//! other. None of this decides what counts: that is the first durable commit alone.

use std::ops::Range;

use crate::Result;

/// What a coordinator reports in an exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoordinatorReport {
    /// Blocks of which no chunk is left.
    pub done: Vec<u64>,
    /// Chunks that it could lease at once.
    pub want: u64,
}

/// A block that belongs to this coordinator from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its number.
    pub block: u64,
    /// Its chunks.
    pub chunks: Range<u64>,
}

/// Totals of the other coordinators.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Elsewhere {
    /// Chunks counted.
    pub chunks: u64,
    /// Events in them.
    pub events: u64,
    /// Their CPU time, seconds.
    pub cpu: f64,
    /// Their wall time, seconds.
    pub wall: f64,
    /// Duplicates refused.
    pub refused: u64,
    /// CPU time spent on those, seconds.
    pub wasted: f64,
}

/// What a coordinator gets in an exchange.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CoordinatorShare {
    /// It had been taken for dead and lost its blocks; its new number and its first lease number.
    pub fenced: Option<(u64, u64)>,
    /// New blocks.
    pub granted: Vec<Grant>,
    /// Chunks of its unfinished blocks that others have counted.
    pub counted: Vec<u64>,
    /// Unfinished blocks of the whole run.
    pub left: u64,
    /// Addresses of the other live coordinators.
    pub others: Vec<String>,
    /// Totals of the others, including those that have ended.
    pub elsewhere: Elsewhere,
}

/// The part of a ledger through which coordinators share a run.
pub trait LedgerSharing {
    /// Marks this coordinator as alive, closes those past their expiry, and claims blocks.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    fn share(&mut self, asked: &CoordinatorReport) -> Result<CoordinatorShare>;

    /// Ends this coordinator and frees its blocks at once.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    fn leave(&mut self) -> Result<()>;
}
