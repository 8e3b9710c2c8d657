//! What several coordinators of one run tell each other through their ledger: who is alive, and whose which chunks are.
//!
//! Chunks are handed to coordinators in blocks. A coordinator that was not heard of for its own expiry is taken for dead:
//! its number is closed, so that nothing more can be written under it (a fence), and its blocks go to others. A
//! coordinator that was only paused finds itself closed, comes back under a new number with no blocks, and offers what it
//! has as anybody does. None of this decides what counts: that is the first durable commit alone.

use std::ops::Range;

use crate::Result;

/// What a coordinator says when it is heard of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoordinatorReport {
    /// Blocks of which no chunk is left to do.
    pub done: Vec<u64>,
    /// Chunks that it could give out at once.
    pub want: u64,
}

/// A block that is this coordinator's from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its number.
    pub block: u64,
    /// Its chunks.
    pub chunks: Range<u64>,
}

/// What other coordinators did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Elsewhere {
    /// Chunks that they counted.
    pub chunks: u64,
    /// Events of them.
    pub events: u64,
    /// CPU time of them, seconds.
    pub cpu: f64,
    /// Time of them, seconds.
    pub wall: f64,
    /// Duplicates that they refused.
    pub refused: u64,
    /// CPU time that these wasted, seconds.
    pub wasted: f64,
}

/// What a coordinator is told.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CoordinatorShare {
    /// It had been taken for dead: all of its blocks are somebody else's, and this is its new number and first lease.
    pub fenced: Option<(u64, u64)>,
    /// Blocks that it gets.
    pub granted: Vec<Grant>,
    /// Chunks of its unfinished blocks that others have counted.
    pub counted: Vec<u64>,
    /// Blocks of the whole run that are not done.
    pub left: u64,
    /// Where the others listen that are alive.
    pub others: Vec<String>,
    /// What the others did, those that are no more included.
    pub elsewhere: Elsewhere,
}

/// The part of a ledger through which coordinators share a run.
pub trait LedgerSharing {
    /// Lets others hear of this coordinator, closes those that were not heard of for too long, and hands blocks out.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    fn share(&mut self, asked: &CoordinatorReport) -> Result<CoordinatorShare>;

    /// Says that this coordinator ends: its blocks are others' at once.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    fn leave(&mut self) -> Result<()>;
}
