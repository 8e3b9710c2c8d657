//! Counters shared by a process and its later children, as atomics: the only safe view of memory that another process
//! writes.

use std::slice;
use std::sync::atomic::AtomicU64;

use crate::error::{Error, Result};
use crate::memory::mapping::Mapping;

/// Counters shared with all processes forked after their creation, each on its own pair of cache lines to avoid false
/// sharing.
#[derive(Debug)]
pub struct SharedCounters {
    mapping: Mapping,
    count: usize,
}

/// A pair of cache lines.
#[repr(C, align(128))]
struct SharedCounter(AtomicU64);

impl SharedCounters {
    /// Creates `count` zeros, at least one.
    pub fn new(count: usize) -> Result<Self> {
        let bytes = count
            .checked_mul(size_of::<SharedCounter>())
            .ok_or_else(|| Error::refused("share counters", "an address cannot hold that many"))?;
        let mapping = Mapping::new(bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANON, -1)?;
        Ok(Self { mapping, count })
    }

    fn all(&self) -> &[SharedCounter] {
        // SAFETY: the range is mapped, zero-initialised and page-aligned, and contains `count` elements; other
        // processes access it as atomics of the same width too, because only this type provides access.
        unsafe { slice::from_raw_parts(self.mapping.start().cast::<SharedCounter>(), self.count) }
    }

    /// Counter `index`, if it exists.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&AtomicU64> {
        self.all().get(index).map(|counter| &counter.0)
    }

    /// All counters in order.
    pub fn iter(&self) -> impl Iterator<Item = &AtomicU64> {
        self.all().iter().map(|counter| &counter.0)
    }
}
