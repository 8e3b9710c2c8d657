//! A production run as it is planned: events, cut into chunks that are the same whoever does them.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Most chunks of one run: beyond, bigger chunks serve better.
pub const MOST_CHUNKS: u64 = 100_000_000;

/// What is to be done. It never changes once a ledger holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FarmJob {
    /// What people call it.
    pub name: String,
    /// What a pilot makes its worker of; this crate does not look into it.
    pub work: serde_json::Value,
    /// Seed of the events.
    pub seed: u64,
    /// Number of the first event.
    pub first: u64,
    /// Events in all.
    pub events: u64,
    /// Events of a chunk; the last one may have fewer.
    pub chunk: u64,
}

/// A range of events that is done, counted and refused as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chunk {
    /// Its number, from 0.
    pub index: u64,
    /// Number of its first event.
    pub first: u64,
    /// Events.
    pub events: u64,
    /// Seed of the run.
    pub seed: u64,
}

impl FarmJob {
    /// Refuses what cannot be cut.
    ///
    /// # Errors
    /// With what to write instead.
    pub fn check(&self) -> Result<()> {
        if self.events == 0 || self.chunk == 0 {
            return Err(Error::Usage("a run and a chunk have at least one event".to_owned()));
        }
        // The ledger's database has signed numbers.
        if self.first.checked_add(self.events).is_none_or(|end| i64::try_from(end).is_err()) {
            return Err(Error::Usage("the number of the last event is too large".to_owned()));
        }
        if self.chunks() > MOST_CHUNKS {
            return Err(Error::Usage(format!("that makes {} chunks; use larger ones", self.chunks())));
        }
        Ok(())
    }

    /// How many chunks it is cut into.
    #[must_use]
    pub const fn chunks(&self) -> u64 {
        self.events.div_ceil(self.chunk)
    }

    /// One of them.
    #[must_use]
    pub fn cut(&self, index: u64) -> Option<Chunk> {
        let begin = index.checked_mul(self.chunk).filter(|begin| *begin < self.events)?;
        let events = self.chunk.min(self.events - begin);
        Some(Chunk { index, first: self.first + begin, events, seed: self.seed })
    }
}

/// What doing a chunk gave and took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkResult {
    /// Events that were done.
    pub events: u64,
    /// Digest of their results: that of a union is the sum, modulo 2^64.
    pub digest: u64,
    /// CPU time that the work took, seconds.
    pub cpu: f64,
    /// Time from its beginning to its end, seconds.
    pub wall: f64,
}

/// Does chunks.
pub trait ChunkWorker {
    /// Does one chunk.
    ///
    /// # Errors
    /// In words, when it cannot be done here and now.
    fn perform(&mut self, chunk: &Chunk) -> std::result::Result<ChunkResult, String>;
}

/// A digest of any text for a chunk: the first 64 bits of SHA-256 over the chunk's range and the text (FIPS 180-4).
/// Sums of these do not depend on who did which chunk, only on the cut.
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
        FarmJob { name: "x".to_owned(), work: serde_json::Value::Null, seed: 1, first, events, chunk }
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
        assert!(job(0, MOST_CHUNKS + 1, 1).check().is_err());
        assert_eq!(job(0, 5, 2).cut(u64::MAX), None);
    }
}
