//! The bytes that are sent where payload is verified: a table that begins again after its end.

use crate::{Error, Result};

/// Alignment of data sent from a table, bytes, as that of other buffers.
pub(crate) const ALIGNMENT: usize = 16;
/// Length of the table, after which it begins again, bytes: it stays in a first-level cache. Times a prime number, so
/// that pages and other powers of two that are moved within payload are found.
pub(crate) const PERIOD: usize = ALIGNMENT * 1_021;

/// Advice on wrong payload.
pub(crate) const ADVICE: &str = "look at the error counters and offloads of cards and switches on this way";

/// A hash of all bits of its argument (SplitMix64; Steele, Lea and Flood, OOPSLA 2014).
pub(crate) const fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The bytes from 0 to `length`.
pub(crate) fn table(length: usize) -> Vec<u8> {
    let mut all = Vec::with_capacity(length + PERIOD);
    for word in 0..PERIOD as u64 / 8 {
        all.extend_from_slice(&mixed(word).to_le_bytes());
    }
    while all.len() < length {
        all.extend_from_within(..PERIOD);
    }
    all.truncate(length);
    all
}

/// The place of the first byte that is not that of `table` from `place` on, where the table begins again.
pub(crate) fn first_wrong(table: &[u8], place: usize, bytes: &[u8]) -> Option<usize> {
    let (mut place, mut done) = (place % PERIOD, 0);
    while done < bytes.len() {
        let count = (bytes.len() - done).min(PERIOD - place);
        let (came, sent) = (&bytes[done..done + count], &table[place..place + count]);
        if came != sent {
            return came.iter().zip(sent).position(|(came, sent)| came != sent).map(|at| done + at);
        }
        (place, done) = (0, done + count);
    }
    None
}

/// The data of a stream: the bytes of the table, one record after the other.
#[derive(Debug)]
pub(crate) struct StreamRecords {
    bytes: Vec<u8>,
    record: usize,
}

impl StreamRecords {
    /// Records of `record` bytes.
    pub(crate) fn new(record: u32) -> Self {
        let record = record as usize;
        Self { bytes: table(PERIOD + record), record }
    }

    /// The record after `bytes` bytes of a stream.
    pub(crate) fn after(&self, bytes: u64) -> &[u8] {
        let place = self.place(bytes);
        &self.bytes[place..place + self.record]
    }

    /// The place of that record within all bytes.
    pub(crate) fn place(&self, bytes: u64) -> usize {
        (bytes % PERIOD as u64) as usize
    }

    /// Bytes of a record.
    pub(crate) const fn length(&self) -> usize {
        self.record
    }

    /// The memory that holds every record.
    pub(crate) fn all(&self) -> &[u8] {
        &self.bytes
    }
}

/// Checks that no byte was wrong on the streams of a sender: the first connection with one, and the byte.
pub(crate) fn check(sender: &str, wrong: Option<(u32, u64)>) -> Result<()> {
    let Some((connection, byte)) = wrong else { return Ok(()) };
    Err(Error::Payload(format!(
        "byte {byte} of connection {connection} from the {sender} did not come as it was sent; {ADVICE}"
    )))
}
