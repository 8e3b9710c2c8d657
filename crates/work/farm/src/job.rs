//! A production run as planned: a range of events, cut into chunks that are the same on every machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Chunks of one run, at most. Beyond that, larger chunks serve better.
pub const MAX_CHUNKS: u64 = 100_000_000;

/// Bytes of a job's description, at most: what else the message to a pilot holds is short.
pub(crate) const MAX_BYTES: usize = (1 << 20) - (4 << 10);

/// The job of a run. It never changes once a ledger holds it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FarmJob {
    /// Name of the run.
    pub name: String,
    /// Description of the work, from which a pilot makes its workers; this crate does not interpret it.
    pub work: serde_json::Value,
    /// Seed of the events.
    pub seed: u64,
    /// Number of the first event.
    pub first: u64,
    /// Number of events.
    pub events: u64,
    /// Events in a chunk; the last one may have fewer.
    pub chunk: u64,
    /// Directory of the files that chunks produce, seen by all nodes; `None` if they produce none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub products: Option<PathBuf>,
}

/// A range of events that is leased, counted and refused as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chunk {
    /// Number of the chunk, from 0.
    pub index: u64,
    /// Number of its first event.
    pub first: u64,
    /// Number of events.
    pub events: u64,
    /// Seed of the run.
    pub seed: u64,
}

impl FarmJob {
    /// Refuses a job that cannot be cut into chunks.
    ///
    /// # Errors
    /// With what to write instead.
    pub fn check(&self) -> Result<()> {
        if self.events == 0 || self.chunk == 0 {
            return Err(Error::Usage("a run and a chunk must have at least one event".to_owned()));
        }
        // SQLite and PostgreSQL have signed 64-bit integers.
        if self.first.checked_add(self.events).is_none_or(|end| i64::try_from(end).is_err()) {
            return Err(Error::Usage("the number of the last event is too large".to_owned()));
        }
        if self.chunks() > MAX_CHUNKS {
            return Err(Error::Usage(format!("that makes {} chunks; use larger ones", self.chunks())));
        }
        // It is part of the first message to every pilot.
        let bytes = serde_json::to_vec(self).map_or(usize::MAX, |text| text.len());
        if bytes > MAX_BYTES {
            let said = format!("the description of the work has {bytes} bytes; pilots take at most {MAX_BYTES}");
            return Err(Error::Usage(said));
        }
        Ok(())
    }

    /// Number of chunks.
    #[must_use]
    pub const fn chunks(&self) -> u64 {
        self.events.div_ceil(self.chunk)
    }

    /// One chunk; `None` beyond the last.
    #[must_use]
    pub fn cut(&self, index: u64) -> Option<Chunk> {
        let begin = index.checked_mul(self.chunk).filter(|begin| *begin < self.events)?;
        let events = self.chunk.min(self.events - begin);
        Some(Chunk { index, first: self.first + begin, events, seed: self.seed })
    }
}

/// Result and cost of one chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkResult {
    /// Events processed.
    pub events: u64,
    /// Digest of the results: that of a union is the sum, modulo 2^64.
    pub digest: u64,
    /// CPU time, seconds; `None` where it is unknown.
    pub cpu: Option<f64>,
    /// Wall time, seconds; `None` where it is unknown.
    pub wall: Option<f64>,
    /// Bytes read from storage, where the worker knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// Bytes written as products, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
}

/// One attempt at a chunk.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Number of its lease: no other attempt of the run has it.
    pub number: u64,
    /// Private directory for its products; `None` if the run has no products.
    pub out: Option<PathBuf>,
    /// Set when the result is not wanted any more.
    pub stop: Arc<AtomicBool>,
}

/// Processes chunks.
pub trait ChunkWorker {
    /// Processes one chunk. Ends early, with an error, when [`Attempt::stop`] is set.
    ///
    /// # Errors
    /// A reason, when the chunk cannot be done here and now.
    fn perform(&mut self, chunk: &Chunk, attempt: &Attempt) -> std::result::Result<ChunkResult, String>;
}

/// Digest of a text for a chunk: the first 64 bits of SHA-256 over the chunk's range and the text (FIPS 180-4). Sums of
/// digests depend on how the run is cut, and not on which pilot did which chunk.
#[must_use]
pub fn text_digest(chunk: &Chunk, text: &str) -> u64 {
    use sha2::{Digest, Sha256};
    let mut sha = Sha256::new();
    sha.update(chunk.first.to_be_bytes());
    sha.update(chunk.events.to_be_bytes());
    sha.update(text.as_bytes());
    sha.finalize().iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn job(first: u64, events: u64, chunk: u64) -> FarmJob {
        FarmJob { name: "x".to_owned(), work: serde_json::Value::Null, seed: 1, first, events, chunk, products: None }
    }

    proptest! {
        #[test]
        fn chunks_are_the_run_without_gap_or_overlap(first in 0..1_000_u64, events in 1..5_000_u64, chunk in 1..6_000_u64) {
            let job = job(first, events, chunk);
            job.check().unwrap();
            let mut next = first;
            for index in 0..job.chunks() {
                let cut = job.cut(index).unwrap();
                prop_assert_eq!(cut.first, next);
                prop_assert!(cut.events >= 1 && cut.events <= chunk);
                next += cut.events;
            }
            prop_assert_eq!(next, first + events);
            prop_assert_eq!(job.cut(job.chunks()), None);
        }
    }

    #[test]
    fn what_cannot_be_cut_is_refused() {
        assert!(job(0, 0, 1).check().is_err());
        assert!(job(0, 1, 0).check().is_err());
        assert!(job(u64::MAX, 2, 1).check().is_err());
        assert!(job(0, MAX_CHUNKS + 1, 1).check().is_err());
        assert_eq!(job(0, 5, 2).cut(u64::MAX), None);
        let long = FarmJob { work: "x".repeat(1 << 20).into(), ..job(0, 5, 2) };
        assert!(long.check().unwrap_err().to_string().contains("pilots take at most"));
    }
}
