//! What is read or written in large blocks, in order: a file past the page cache, a disk, a tape.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::PathBuf;
use std::rc::Rc;

use model::{GIB, MIB};
use sys::file::{Advice, AlignedBuffer, Device, advise, open_direct};

use super::transfer::{FILE, TransferDirection, TransferStep, open};
use super::{place, target};
use crate::{ProbeContext, ProbeError, Scratch, Unsupported};

/// The medium.
pub(super) struct StreamMedium {
    path: PathBuf,
    file: File,
    way: TransferDirection,
    kind: Option<Device>,
    /// Whether its content is this launch's, and known.
    own: bool,
    /// Whether the page cache is passed by.
    direct: bool,
    /// Bytes after which it begins again; a tape ends where it ends.
    size: Option<u64>,
    at: u64,
    _files: Option<Rc<Scratch>>,
}

impl StreamMedium {
    /// A file in the target directory. Where the file system cannot pass the page cache by, writing ends with making it
    /// durable, reading begins with dropping what is cached, and a note says so.
    pub(super) fn file(way: TransferDirection, bench: &mut ProbeContext) -> Result<Self, Unsupported> {
        let files = bench.scratch()?;
        let directory = bench.directory().to_owned();
        place::describe(&directory, bench);
        place::room(&directory, FILE)?;
        let path = files.path().join(format!("sequential-{way:?}"));
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        let (file, direct) = match open_direct(&path, options) {
            Ok(file) => (file, true),
            Err(reason) => {
                bench.note(format!("through the page cache, made durable or dropped for each batch: {reason}"));
                (options.open(&path).map_err(Unsupported::from)?, false)
            }
        };
        Ok(Self { path, file, way, kind: None, own: true, direct, size: Some(FILE), at: 0, _files: Some(files) })
    }

    /// The device that stands in the place of the target directory. A block device is used up to its first gibibyte, and
    /// written only where nobody else uses it.
    pub(super) fn device(way: TransferDirection, bench: &mut ProbeContext) -> Result<Self, Unsupported> {
        let path = bench.directory().to_owned();
        let kind = sys::file::device(&path)?.ok_or_else(|| {
            Unsupported::new(format!("{} is no device; name one as the target directory", path.display()))
        })?;
        let file = open(&path, way, kind)?;
        let size = match kind {
            Device::Block => Some((&file).seek(SeekFrom::End(0))?.min(GIB) / (4 * MIB) * (4 * MIB)),
            Device::Character => None,
        };
        bench.note(format!("{}: {} device", path.display(), if size.is_some() { "block" } else { "character" }));
        let direct = size.is_some();
        let mut medium = Self { path, file, way, kind: Some(kind), own: false, direct, size, at: 0, _files: None };
        if size == Some(0) {
            return Err(Unsupported::new("the device holds less than four mebibytes"));
        }
        if size.is_some() {
            medium.file.rewind()?;
        }
        Ok(medium)
    }

    /// The medium that stands in the place of the target directory to be written over: a file made for the run, a block
    /// device that nobody else uses, a tape. `first` is a block as it will be written, with which the way past the page
    /// cache is tried: a device of large sectors refuses small blocks.
    pub(super) fn target(way: TransferDirection, first: &[u8], bench: &mut ProbeContext) -> Result<Self, Unsupported> {
        let path = bench.directory().to_owned();
        let target::OpenedMedium { file, kind, direct, size } = target::open(&path, way, first, bench)?;
        Ok(Self { path, file, way, kind, own: true, direct, size, at: 0, _files: None })
    }

    /// Whether its content is this launch's, and known.
    pub(super) fn is_own(&self) -> bool {
        self.own
    }

    /// Whether a block can be read back where it was written.
    pub(super) fn reads_back(&self) -> bool {
        self.own && self.kind != Some(Device::Character)
    }

    /// Bytes after which it begins again; `None` for a tape.
    pub(super) fn size(&self) -> Option<u64> {
        self.size
    }

    /// What was written until here is all that there is to read.
    pub(super) fn ends_here(&mut self) {
        self.size = self.size.map(|_| self.at);
    }

    /// Bytes from the beginning to where it stands.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Whether another block fits before a medium of known size begins again.
    pub(super) fn fits(&self, block: usize) -> bool {
        self.size.is_none_or(|size| self.at + block as u64 <= size)
    }

    /// Back to the beginning. A tape is closed and opened, which rewinds a device that rewinds.
    pub(super) fn restart(&mut self) -> Result<(), ProbeError> {
        match self.kind {
            Some(Device::Character) => {
                // The device takes one opener at a time: the old one must be gone first.
                self.file = File::open("/dev/null")?;
                self.file = open(&self.path, self.way, Device::Character)
                    .map_err(|unfit| ProbeError::new(unfit.to_string()))?;
            }
            _ => self.file.rewind()?,
        }
        self.at = 0;
        Ok(())
    }

    /// Outside the clock: what a batch of reading will read is not in the page cache.
    pub(super) fn drop_caches(&self) -> Result<(), ProbeError> {
        if self.is_cached() {
            advise(&self.file, Advice::DontNeed)?;
        }
        Ok(())
    }

    /// Inside the clock, at the end of a batch of writing: what the page cache took is on the medium.
    pub(super) fn flush(&self) -> Result<(), ProbeError> {
        if self.is_cached() { Ok(sys::file::sync_data(&self.file)?) } else { Ok(()) }
    }

    /// Whether blocks go through the page cache. A tape has none.
    fn is_cached(&self) -> bool {
        self.own && !self.direct && self.kind != Some(Device::Character)
    }

    /// Transfers one block.
    #[inline]
    pub(super) fn transfer(&mut self, block: &mut AlignedBuffer) -> Result<TransferStep, ProbeError> {
        let moved = match self.way {
            TransferDirection::Read => sys::file::read(&self.file, block),
            TransferDirection::Write => sys::file::write(&self.file, block),
        };
        let step = judge(moved, block.len(), self.at, self.way)?;
        if step == TransferStep::Whole {
            self.at += block.len() as u64;
        }
        Ok(step)
    }

    /// Outside the clock: reads back a block that was written at an offset.
    pub(super) fn read_back(&self, block: &mut AlignedBuffer, offset: u64) -> Result<(), ProbeError> {
        ProbeError::unless_equal(sys::file::read_at(&self.file, block, offset)?, block.len())
    }

    /// Begins a file anew the other way: one is written before it is read.
    pub(super) fn turn_to(&mut self, way: TransferDirection) -> Result<(), ProbeError> {
        if self.kind != Some(Device::Character) {
            sys::file::sync(&self.file)?;
        }
        self.way = way;
        self.restart()
    }
}

/// What a transfer means. The end of a medium shows as nothing, as less than a block, as "no space", or, behind some data, as
/// an error of the device (st(4)): no help of a tape's own commands is needed to see it.
fn judge(moved: sys::Result<usize>, block: usize, at: u64, way: TransferDirection) -> Result<TransferStep, ProbeError> {
    const NO_SPACE: i32 = 28;
    const DEVICE_ERROR: i32 = 5;
    match moved {
        Ok(moved) if moved == block => Ok(TransferStep::Whole),
        Ok(moved) if moved > 0 && at == 0 && way == TransferDirection::Read => {
            Err(ProbeError::new(format!("the medium has records of {moved} bytes: read it in blocks of that size")))
        }
        Ok(_) => Ok(TransferStep::End),
        Err(error) if error.errno() == Some(NO_SPACE) => Ok(TransferStep::End),
        Err(error) if error.errno() == Some(DEVICE_ERROR) && at > 0 => Ok(TransferStep::End),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(number: i32) -> sys::Result<usize> {
        Err(sys::Error::os("write", std::io::Error::from_raw_os_error(number)))
    }

    #[test]
    fn the_end_of_a_medium_shows_in_many_ways() {
        assert_eq!(judge(Ok(512), 512, 0, TransferDirection::Write), Ok(TransferStep::Whole));
        for end in [Ok(0), Ok(100), error(28), error(5)] {
            assert_eq!(judge(end, 512, 1024, TransferDirection::Write), Ok(TransferStep::End));
        }
        assert_eq!(judge(Ok(0), 512, 0, TransferDirection::Read), Ok(TransferStep::End), "an empty medium");
        assert!(judge(Ok(100), 512, 0, TransferDirection::Read).is_err(), "records of another size");
        assert!(judge(error(5), 512, 0, TransferDirection::Write).is_err(), "a device that never worked");
        assert!(judge(error(13), 512, 1024, TransferDirection::Write).is_err());
    }
}
