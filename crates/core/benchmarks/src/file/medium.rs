//! A medium that is read or written in large blocks, in order: a file past the page cache, a disk, a tape.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::PathBuf;
use std::rc::Rc;

use kernels::file::{Advice, AlignedBuffer, advise};
use model::{GIB, MIB};
use os::file::Device;

use super::transfer::{TransferDirection, TransferStep, open};
use super::{place, target};
use crate::room::require_length;
use crate::{BenchmarkContext, BenchmarkError, Scratch, Unsupported};

pub(super) struct StreamMedium {
    path: PathBuf,
    file: File,
    way: TransferDirection,
    kind: Option<Device>,
    /// Whether this sample wrote its content, which is then known.
    own: bool,
    /// Whether the page cache is bypassed.
    direct: bool,
    /// Bytes after which it starts again; `None` for a tape, which has an end of its own.
    size: Option<u64>,
    at: u64,
    _files: Option<Rc<Scratch>>,
}

impl StreamMedium {
    /// A file in the target directory, which is tried with the block `first`. If the file system cannot bypass the page
    /// cache, writing ends with making it durable, reading begins with dropping its cached pages, and a note reports
    /// it.
    pub(super) fn file(
        way: TransferDirection,
        length: u64,
        first: &[u8],
        context: &mut BenchmarkContext,
    ) -> Result<Self, Unsupported> {
        let files = context.scratch()?;
        let directory = context.directory().to_owned();
        place::describe(&directory, context);
        place::require_disk(&directory)?;
        place::require_space(&directory, length)?;
        require_length(length)?;
        let path = files.path().join(format!("sequential-{way:?}"));
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        let (file, direct) = match target::past_cache(&path, options, first) {
            Ok(file) => (file, true),
            Err(why) => {
                context.note(format!("{}: {why}", target::THROUGH_CACHE));
                (options.open(&path).map_err(Unsupported::from)?, false)
            }
        };
        Ok(Self { path, file, way, kind: None, own: true, direct, size: Some(length), at: 0, _files: Some(files) })
    }

    /// The device given instead of the target directory. A block device is used up to its first gibibyte, or a longer
    /// stream's length, and written only if no other process uses it.
    pub(super) fn device(
        way: TransferDirection,
        length: u64,
        context: &mut BenchmarkContext,
    ) -> Result<Self, Unsupported> {
        let path = context.directory().to_owned();
        let kind = os::file::device(&path)?.ok_or_else(|| {
            Unsupported::new(format!("{} is no device; name one as the target directory", path.display()))
        })?;
        let file = open(&path, way, kind)?;
        let size = match kind {
            Device::Block => Some((&file).seek(SeekFrom::End(0))?.min(length.max(GIB)) / (4 * MIB) * (4 * MIB)),
            Device::Character => None,
        };
        context.note(format!("{}: {} device", path.display(), if size.is_some() { "block" } else { "character" }));
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

    /// The medium given to be overwritten: a file created for the run, a block device that no other process uses, a
    /// tape. `first` is a block as it will be written, with which bypassing the page cache is tried: a device with
    /// large sectors refuses small blocks.
    pub(super) fn target(
        way: TransferDirection,
        length: u64,
        first: &[u8],
        context: &mut BenchmarkContext,
    ) -> Result<Self, Unsupported> {
        let path = context.directory().to_owned();
        let target::OpenedMedium { file, kind, direct, size } = target::open(&path, way, length, first, context)?;
        Ok(Self { path, file, way, kind, own: true, direct, size, at: 0, _files: None })
    }

    /// Whether this sample wrote its content, which is then known.
    pub(super) fn is_own(&self) -> bool {
        self.own
    }

    /// Whether a block can be read back after writing.
    pub(super) fn reads_back(&self) -> bool {
        self.own && self.kind != Some(Device::Character)
    }

    /// Bytes after which it starts again; `None` for a tape.
    pub(super) fn size(&self) -> Option<u64> {
        self.size
    }

    /// Sets the end of the data to the current position.
    pub(super) fn ends_here(&mut self) {
        self.size = self.size.map(|_| self.at);
    }

    /// Current position, bytes.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Whether another block fits before a medium of known size starts again.
    pub(super) fn fits(&self, block: usize) -> bool {
        self.size.is_none_or(|size| self.at + block as u64 <= size)
    }

    /// Returns to the beginning. A tape is closed and opened, which rewinds a rewinding device.
    pub(super) fn restart(&mut self) -> Result<(), BenchmarkError> {
        match self.kind {
            Some(Device::Character) => {
                // The device permits one open descriptor: the old one must be closed first.
                self.file = File::open("/dev/null")?;
                self.file = open(&self.path, self.way, Device::Character)
                    .map_err(|not_measured| BenchmarkError::new(not_measured.to_string()))?;
            }
            _ => self.file.rewind()?,
        }
        self.at = 0;
        Ok(())
    }

    /// Outside the clock: drops the pages that a batch of reading will read from the page cache.
    pub(super) fn drop_caches(&self) -> Result<(), BenchmarkError> {
        if self.is_cached() {
            advise(&self.file, Advice::DontNeed)?;
        }
        Ok(())
    }

    /// Inside the clock, at the end of a batch of writing: makes data in the page cache durable.
    pub(super) fn flush(&self) -> Result<(), BenchmarkError> {
        if self.is_cached() { Ok(kernels::file::sync_data(&self.file)?) } else { Ok(()) }
    }

    /// Whether blocks go through the page cache. A tape has none.
    fn is_cached(&self) -> bool {
        self.own && !self.direct && self.kind != Some(Device::Character)
    }

    #[inline]
    pub(super) fn transfer(&mut self, block: &mut AlignedBuffer) -> Result<TransferStep, BenchmarkError> {
        let moved = match self.way {
            TransferDirection::Read => kernels::file::read(&self.file, block),
            TransferDirection::Write => kernels::file::write(&self.file, block),
        };
        let step = classify(moved, block.len(), self.at, self.way)?;
        if step == TransferStep::Whole {
            self.at += block.len() as u64;
        }
        Ok(step)
    }

    /// Outside the clock: reads back a block that was written at an offset.
    pub(super) fn read_back(&self, block: &mut AlignedBuffer, offset: u64) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(kernels::file::read_at(&self.file, block, offset)?, block.len())
    }

    /// Restarts a file in the other direction: it is written before it is read.
    pub(super) fn restart_as(&mut self, way: TransferDirection) -> Result<(), BenchmarkError> {
        if self.kind != Some(Device::Character) {
            kernels::file::sync(&self.file)?;
        }
        self.way = way;
        self.restart()
    }
}

/// The result of a transfer. The end of a medium appears as zero bytes, as less than a block, as "no space", or, after
/// some data, as an error of the device (st(4)). The tape's own commands are not needed to detect it.
fn classify(
    moved: kernels::Result<usize>,
    block: usize,
    at: u64,
    way: TransferDirection,
) -> Result<TransferStep, BenchmarkError> {
    const NO_SPACE: i32 = 28;
    const DEVICE_ERROR: i32 = 5;
    match moved {
        Ok(moved) if moved == block => Ok(TransferStep::Whole),
        Ok(moved) if moved > 0 && at == 0 && way == TransferDirection::Read => {
            Err(BenchmarkError::new(format!("the medium has records of {moved} bytes: read it in blocks of that size")))
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

    fn error(number: i32) -> kernels::Result<usize> {
        Err(kernels::Error::os("write", std::io::Error::from_raw_os_error(number)))
    }

    #[test]
    fn the_end_of_a_medium_is_detected_in_every_form() {
        assert_eq!(classify(Ok(512), 512, 0, TransferDirection::Write), Ok(TransferStep::Whole));
        for end in [Ok(0), Ok(100), error(28), error(5)] {
            assert_eq!(classify(end, 512, 1024, TransferDirection::Write), Ok(TransferStep::End));
        }
        assert_eq!(classify(Ok(0), 512, 0, TransferDirection::Read), Ok(TransferStep::End), "an empty medium");
        assert!(classify(Ok(100), 512, 0, TransferDirection::Read).is_err(), "records of another size");
        assert!(classify(error(5), 512, 0, TransferDirection::Write).is_err(), "a device that never worked");
        assert!(classify(error(13), 512, 1024, TransferDirection::Write).is_err());
    }
}
