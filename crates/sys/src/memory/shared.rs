//! Memory shared by a process and its later children, as atomics: the only safe view of memory that another process
//! writes.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::slice;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

use crate::error::{Error, Result};
use crate::memory::mapping::Mapping;

mod sealed {
    pub trait SealedShared {}
    impl SealedShared for std::sync::atomic::AtomicU8 {}
    impl SealedShared for std::sync::atomic::AtomicU32 {}
    impl SealedShared for std::sync::atomic::AtomicU64 {}
}

/// An atomic integer for which zero bytes are a value. Implemented for 8, 32 and 64 bits.
pub trait AtomicWord: sealed::SealedShared + Sync + Send + 'static {}
impl AtomicWord for AtomicU8 {}
impl AtomicWord for AtomicU32 {}
impl AtomicWord for AtomicU64 {}

/// A zeroed array of atomics shared with all processes forked after its creation.
pub struct SharedArray<A: AtomicWord> {
    mapping: Mapping,
    len: usize,
    element: PhantomData<[A]>,
}

impl<A: AtomicWord> SharedArray<A> {
    /// Creates `len` zeros.
    pub fn new(len: usize) -> Result<Self> {
        let bytes = len
            .checked_mul(size_of::<A>())
            .ok_or_else(|| Error::refused("share memory", "an address cannot hold that many"))?;
        let mapping = Mapping::new(bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANON, -1)?;
        Ok(Self { mapping, len, element: PhantomData })
    }
}

impl<A: AtomicWord> Deref for SharedArray<A> {
    type Target = [A];

    fn deref(&self) -> &[A] {
        // SAFETY: the range is mapped, zero-initialised and page-aligned, and contains `len` elements; other processes
        // access it as atomics of the same width too, because only this type provides access.
        unsafe { slice::from_raw_parts(self.mapping.start().cast::<A>(), self.len) }
    }
}

impl<A: AtomicWord> fmt::Debug for SharedArray<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("len", &self.len).finish()
    }
}

/// Counters shared with children, each on its own pair of cache lines to avoid false sharing.
#[derive(Debug)]
pub struct SharedCounters {
    words: SharedArray<AtomicU64>,
    count: usize,
}

const WORDS_APART: usize = 128 / size_of::<u64>();

impl SharedCounters {
    /// Creates `count` zeros.
    pub fn new(count: usize) -> Result<Self> {
        let words = count
            .checked_mul(WORDS_APART)
            .ok_or_else(|| Error::refused("share counters", "an address cannot hold that many"))?;
        Ok(Self { words: SharedArray::new(words)?, count })
    }

    /// Counter `index`, if it exists.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&AtomicU64> {
        (index < self.count).then(|| &self.words[index * WORDS_APART])
    }

    /// All counters in order.
    pub fn iter(&self) -> impl Iterator<Item = &AtomicU64> {
        self.words.chunks(WORDS_APART).map(|chunk| &chunk[0])
    }

    /// Number of counters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Never: an empty set cannot be created.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
