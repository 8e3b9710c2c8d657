//! A private range of memory with a chosen page size, accessible as numbers.

use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::memory::mapping::{Mapping, round_up};
use crate::memory::{HugeShare, Pages, PreparationHelpers, huge, page_size};

/// Zeroed anonymous memory of this process. A forked child has its own copy-on-write copy.
///
/// Its pages exist only once written (first touch), which [`Arena::populate`] does. With a page policy other than
/// [`Pages::System`] an inaccessible page lies before and after it. It then never merges with a neighbour in
/// `/proc/self/smaps`, and [`Arena::huge_share`] counts its own pages only.
#[derive(Debug)]
pub struct Arena {
    /// Shared by the parts of a divided arena, each with a range of its own.
    mapping: Arc<Mapping>,
    offset: usize,
    len: usize,
    pages: Pages,
}

/// Bytes that one call makes exist, a multiple of every page size: the last helper's remainder takes a few
/// milliseconds.
const AT_ONCE: usize = 32 << 20;
const READ_WRITE: i32 = libc::PROT_READ | libc::PROT_WRITE;
const PRIVATE: i32 = libc::MAP_PRIVATE | libc::MAP_ANON;

/// A number for which all bytes are valid.
trait Plain {}
impl Plain for u8 {}
impl Plain for u64 {}
impl Plain for f64 {}

impl Arena {
    /// Reserves `bytes` with a page policy; nothing is touched yet. Its start is aligned to the policy's page.
    pub fn reserve(bytes: usize, pages: Pages) -> Result<Self> {
        let too_large = || Error::refused(format!("reserve {bytes} bytes"), "an address cannot hold that many");
        if pages == Pages::System {
            let mapping = Mapping::new(bytes, READ_WRITE, PRIVATE, -1)?;
            return Ok(Self { mapping: Arc::new(mapping), offset: 0, len: bytes, pages });
        }
        if bytes == 0 {
            return Err(Error::refused("reserve memory", "0 bytes were requested"));
        }
        let page = page_size();
        let unit = pages.size();
        let usable = round_up(bytes, unit).ok_or_else(too_large)?;
        let whole = usable.checked_add(unit + 2 * page).ok_or_else(too_large)?;
        // Reserved addresses should not count against the kernel's overcommit limit.
        let mapping = Mapping::new(whole, libc::PROT_NONE, PRIVATE | libc::MAP_NORESERVE, -1)?;
        let first = mapping.start() as usize + page;
        let offset = round_up(first, unit).ok_or_else(too_large)? - mapping.start() as usize;
        mapping.protect(offset, usable, READ_WRITE)?;
        huge::apply(&mapping, offset, usable, pages)?;
        Ok(Self { mapping: Arc::new(mapping), offset, len: bytes, pages })
    }

    /// `count` arenas of `bytes` each, one behind the other in one mapping. Its pages are made and verified at once;
    /// two dozen separate mappings take a millisecond each.
    pub fn several(count: usize, bytes: usize, pages: Pages, helpers: &PreparationHelpers) -> Result<Vec<Self>> {
        let too_large =
            || Error::refused(format!("reserve {count} times {bytes} bytes"), "an address cannot hold that many");
        let each = round_up(bytes, pages.size()).ok_or_else(too_large)?;
        let all = Self::populated_by(each.checked_mul(count).ok_or_else(too_large)?, pages, helpers)?;
        let part =
            |at: usize| Self { mapping: Arc::clone(&all.mapping), offset: all.offset + at * each, len: bytes, pages };
        Ok((0..count).map(part).collect())
    }

    /// Reserves and touches every page; an error if the pages do not match the policy.
    pub fn populated(bytes: usize, pages: Pages) -> Result<Self> {
        Self::populated_by(bytes, pages, &PreparationHelpers::none())
    }

    /// The same, with help of other CPUs.
    pub fn populated_by(bytes: usize, pages: Pages, helpers: &PreparationHelpers) -> Result<Self> {
        let mut arena = Self::reserve(bytes, pages)?;
        if !arena.populate_at_once(helpers) {
            arena.populate();
        }
        arena.verify_pages()?;
        Ok(arena)
    }

    /// Lets the kernel make all pages exist by one call, which takes two thirds of the time of a fault for each. False
    /// if it cannot: it came with Linux 5.14.
    fn populate_at_once(&mut self, helpers: &PreparationHelpers) -> bool {
        // A mapping of the system's policy begins and ends at whole pages, like those of the others.
        let whole = round_up(self.len, page_size()).unwrap_or(0);
        let failed = AtomicBool::new(false);
        helpers.share((0..whole).step_by(AT_ONCE).collect(), |from| {
            let length = AT_ONCE.min(whole - from);
            if self.mapping.advise(self.offset + from, length, libc::MADV_POPULATE_WRITE).is_err() {
                failed.store(true, Ordering::Relaxed);
            }
        });
        !failed.into_inner()
    }

    /// Writes one zero byte to each base page, so that all pages exist. Returns the number of base pages touched.
    pub fn populate(&mut self) -> usize {
        self.touch(page_size())
    }

    /// Writes a zero byte every `stride` bytes (at least 1) and returns their number: the work of a page-fault result.
    pub fn touch(&mut self, stride: usize) -> usize {
        let mut touched = 0;
        for offset in (0..self.len).step_by(stride.max(1)) {
            // SAFETY: `offset` is below the length of the readable and writable range that `&mut self` borrows alone.
            unsafe { self.start().add(offset).write_volatile(0) };
            touched += 1;
        }
        touched
    }

    /// Returns the pages to the kernel; the arena then reads as zeros and causes faults again.
    pub fn discard(&mut self) -> Result<()> {
        self.mapping.advise(self.offset, self.usable(), libc::MADV_DONTNEED)
    }

    /// The part that is on huge pages now.
    pub fn huge_share(&self) -> Result<HugeShare> {
        huge::share(self.start() as usize, self.usable())
    }

    /// An error with a reason if populated pages do not match the policy. The system policy always matches.
    pub fn verify_pages(&self) -> Result<()> {
        match self.pages {
            Pages::System => Ok(()),
            policy => huge::verify(policy, self.huge_share()?),
        }
    }

    /// The page policy it was reserved with.
    #[must_use]
    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// Length in bytes, as requested.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: an empty arena cannot be reserved.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All whole elements.
    fn slice<T: Plain>(&self) -> &[T] {
        // SAFETY: the range is readable, page-aligned, initialised (by the kernel with zeros or by writes), and any
        // bytes are a `T`; `&self` excludes writers for the duration of the borrow.
        unsafe { slice::from_raw_parts(self.start().cast(), self.len / size_of::<T>()) }
    }

    /// All whole elements, writable.
    fn slice_mut<T: Plain>(&mut self) -> &mut [T] {
        // SAFETY: as for `slice`, and `&mut self` makes this the only borrow.
        unsafe { slice::from_raw_parts_mut(self.start().cast(), self.len / size_of::<T>()) }
    }

    /// As bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.slice()
    }

    /// As bytes, writable.
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.slice_mut()
    }

    /// As 64-bit words.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        self.slice()
    }

    /// As 64-bit words, writable.
    #[must_use]
    pub fn words_mut(&mut self) -> &mut [u64] {
        self.slice_mut()
    }

    /// As doubles.
    #[must_use]
    pub fn doubles(&self) -> &[f64] {
        self.slice()
    }

    /// As doubles, writable.
    #[must_use]
    pub fn doubles_mut(&mut self) -> &mut [f64] {
        self.slice_mut()
    }

    fn start(&self) -> *mut u8 {
        // SAFETY: the offset was chosen within the mapping.
        unsafe { self.mapping.start().add(self.offset) }
    }

    /// Length in whole pages of the policy.
    fn usable(&self) -> usize {
        round_up(self.len, self.pages.size()).unwrap_or(self.len)
    }
}
