//! I/O past the page cache, which requires aligned memory, offsets and lengths.

use std::fs::{File, OpenOptions};
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::memory::{Arena, Pages};

/// Opens a file past the page cache (`O_DIRECT`), with the access in `options`. File systems without it, such as tmpfs
/// before Linux 6.6, return an error.
pub fn open_direct(path: impl AsRef<Path>, options: &OpenOptions) -> Result<File> {
    open(path.as_ref(), options, libc::O_DIRECT, "past the page cache")
}

/// Opens a block device past the page cache exclusively (`O_EXCL` without `O_CREAT`, `open(2)`). A mounted device or
/// one in use returns an error, so that no data are overwritten by mistake.
pub fn open_direct_alone(path: impl AsRef<Path>, options: &OpenOptions) -> Result<File> {
    open(path.as_ref(), options, libc::O_DIRECT | libc::O_EXCL, "exclusively")
}

/// Opens a block device exclusively, through the page cache.
pub fn open_alone(path: impl AsRef<Path>, options: &OpenOptions) -> Result<File> {
    open(path.as_ref(), options, libc::O_EXCL, "exclusively")
}

fn open(path: &Path, options: &OpenOptions, flags: i32, how: &str) -> Result<File> {
    let opened = options.clone().custom_flags(flags).open(path);
    opened.map_err(|error| Error::os(format!("open {} {how}", path.display()), error))
}

/// Zeroed bytes that start on a page, which is sufficient alignment for all devices.
#[derive(Debug)]
pub struct AlignedBuffer(Arena);

impl AlignedBuffer {
    /// Allocates `bytes`; direct I/O uses whole blocks only.
    pub fn new(bytes: usize) -> Result<Self> {
        let mut arena = Arena::reserve(bytes, Pages::System)?;
        arena.populate();
        Ok(Self(arena))
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}
