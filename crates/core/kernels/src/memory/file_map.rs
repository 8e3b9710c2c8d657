//! A file mapped for reading.
//!
//! Another process may write or truncate the file at any time, so no slice is ever returned: reading uses volatile
//! loads. Accessing a page after the end of a truncated file ends the process with SIGBUS, as in `mmap(2)`.

use std::fs::File;
use std::os::fd::AsRawFd;

use crate::error::{Error, Result};
use crate::memory::mapping::Mapping;
use crate::memory::page_size;

/// A whole file, mapped read-only and shared with the page cache.
#[derive(Debug)]
pub struct FileMap {
    mapping: Mapping,
    len: usize,
}

impl FileMap {
    /// Maps the file at its present length, which must not be 0.
    pub fn new(file: &File) -> Result<Self> {
        let len = file.metadata().map_err(|e| Error::os("learn the length of the file to map", e))?.len();
        let len =
            usize::try_from(len).map_err(|_| Error::refused("map the file", "an address cannot hold its length"))?;
        let mapping = Mapping::new(len, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd())?;
        Ok(Self { mapping, len })
    }

    /// Length in bytes when it was mapped.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: a file of no bytes cannot be mapped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Wrapping sum of the file as native 64-bit words; the remaining bytes at the end are added one by one.
    #[must_use]
    pub fn sum(&self) -> u64 {
        let words = self.len / 8;
        let start = self.mapping.start().cast::<u64>();
        let mut sums = [0u64; 4];
        for index in (0..words / 4 * 4).step_by(4) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                // SAFETY: `index + lane` is below the number of whole words of the mapping, which is page-aligned.
                *sum = sum.wrapping_add(unsafe { start.add(index + lane).read_volatile() });
            }
        }
        let mut sum = sums.iter().fold(0u64, |sum, part| sum.wrapping_add(*part));
        for index in words / 4 * 4..words {
            // SAFETY: as above.
            sum = sum.wrapping_add(unsafe { start.add(index).read_volatile() });
        }
        for offset in words * 8..self.len {
            // SAFETY: the offset is below the length of the mapping.
            sum = sum.wrapping_add(u64::from(unsafe { self.mapping.start().add(offset).read_volatile() }));
        }
        sum
    }

    /// Reads one byte of each page and returns the wrapping sum of those bytes and the number of pages.
    #[must_use]
    pub fn touch_pages(&self) -> (u64, usize) {
        let (mut sum, mut pages) = (0u64, 0);
        for offset in (0..self.len).step_by(page_size()) {
            // SAFETY: the offset is below the length of the mapping.
            sum = sum.wrapping_add(u64::from(unsafe { self.mapping.start().add(offset).read_volatile() }));
            pages += 1;
        }
        (sum, pages)
    }

    /// Reads the first byte of a page.
    ///
    /// # Panics
    /// When the mapping has no such page.
    #[must_use]
    pub fn touch_page(&self, page: usize) -> u8 {
        let offset = page * page_size();
        assert!(offset < self.len, "page {page} lies behind the end of a mapping of {} bytes", self.len);
        // SAFETY: the offset is below the length of the mapping.
        unsafe { self.mapping.start().add(offset).read_volatile() }
    }

    /// Bytes of the file, in whole pages, that are in the page cache (`mincore`). For a file that this user neither
    /// owns nor may write, the kernel reports all of them.
    pub fn cached_bytes(&self) -> Result<u64> {
        let cached = self.mapping.resident()?.iter().filter(|page| **page & 1 != 0).count();
        Ok((cached * page_size()) as u64)
    }

    /// Removes the pages from this process's page table; they stay in the page cache, so each access is a minor fault
    /// again.
    pub fn forget(&mut self) -> Result<()> {
        self.mapping.advise(0, self.mapping.len(), libc::MADV_DONTNEED)
    }
}
