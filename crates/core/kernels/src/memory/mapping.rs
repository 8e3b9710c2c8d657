//! One `mmap` that is unmapped when dropped: the only place that calls `mmap` and `munmap`.

use std::os::fd::RawFd;
use std::ptr::{self, NonNull};

use crate::error::{Error, Result, check};
use crate::memory::page_size;

/// A mapped range. Owns the addresses, without guarantees about access to them.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the range belongs to this value alone; its address is valid in every thread.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference returns the address only; all code that reads or writes through it states why that is
// safe.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes, rounded up to pages, at an address chosen by the kernel.
    pub(crate) fn new(len: usize, protection: i32, flags: i32, fd: RawFd) -> Result<Self> {
        const WHAT: &str = "map memory";
        let len = round_up(len, page_size()).filter(|&len| len > 0);
        let len = len.ok_or_else(|| Error::refused(WHAT, "the size is 0 or more than an address can hold"))?;
        // SAFETY: no address is requested, so the kernel chooses an unused one; no existing memory changes.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(Error::last(format!("map {len} bytes of memory")));
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| Error::refused(WHAT, "the kernel chose address 0"))?;
        Ok(Self { start, len })
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Changes the protection of `len` bytes from `offset`, both multiples of the page size and within the mapping.
    pub(crate) fn protect(&self, offset: usize, len: usize, protection: i32) -> Result<()> {
        self.within(offset, len)?;
        // SAFETY: the range is within this mapping. Owners remove a protection only while there are no references.
        let answer = unsafe { libc::mprotect(self.start().add(offset).cast(), len, protection) };
        check("change the protection of memory", answer).map(|_| ())
    }

    /// Advises the kernel about `len` bytes from `offset`. Owners must justify advice that changes contents.
    pub(crate) fn advise(&self, offset: usize, len: usize, advice: i32) -> Result<()> {
        self.within(offset, len)?;
        // SAFETY: the range lies within this mapping; owners give contents-changing advice through `&mut` only.
        let answer = unsafe { libc::madvise(self.start().add(offset).cast(), len, advice) };
        check("advise the kernel about memory", answer).map(|_| ())
    }

    /// Pages in physical memory, for a mapped file those in the page cache: the lowest bit of one byte a page.
    pub(crate) fn resident(&self) -> Result<Vec<u8>> {
        let mut pages = vec![0_u8; self.len.div_ceil(page_size())];
        // SAFETY: the range is this mapping, and the vector has a byte for each of its pages.
        let answer = unsafe { libc::mincore(self.start().cast(), self.len, pages.as_mut_ptr().cast()) };
        check("learn which pages are in memory", answer).map(|_| pages)
    }

    fn within(&self, offset: usize, len: usize) -> Result<()> {
        match offset.checked_add(len) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(Error::refused("change memory", "the range is outside its mapping")),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `new`, belongs to this value, and every borrow of it has ended.
        unsafe { libc::munmap(self.start().cast(), self.len) };
    }
}

/// `n` rounded up to a multiple of `unit`, if that fits.
pub(crate) fn round_up(n: usize, unit: usize) -> Option<usize> {
    n.checked_next_multiple_of(unit)
}
