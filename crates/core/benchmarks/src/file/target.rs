//! Opens the medium that the user named for overwriting, after checks.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

use kernels::file::{open_alone, open_direct, open_direct_alone};
use kernels::memory::FileMap;
use model::MIB;
use os::file::Device;

use super::place;
use super::transfer::{MARK, TransferDirection, open as open_stream};
use crate::room::require_length;
use crate::{BenchmarkContext, Unsupported};

/// Alignment of the size: the largest blocks fit a whole number of times.
const GRAIN: u64 = 4 * MIB;

/// A medium at its beginning.
pub(super) struct OpenedMedium {
    /// Open in the requested direction; in both if possible.
    pub(super) file: File,
    /// `None` for a file.
    pub(super) kind: Option<Device>,
    /// Whether the page cache is bypassed.
    pub(super) direct: bool,
    /// Bytes after which it starts again; `None` for a medium with an end of its own.
    pub(super) size: Option<u64>,
}

/// Opens the medium at a path.
pub(super) fn open(
    path: &Path,
    way: TransferDirection,
    length: u64,
    first: &[u8],
    context: &mut BenchmarkContext,
) -> Result<OpenedMedium, Unsupported> {
    match os::file::device(path)? {
        Some(Device::Character) => {
            context.note(format!("{}: character device", path.display()));
            let file = open_stream(path, way, Device::Character)?;
            Ok(OpenedMedium { file, kind: Some(Device::Character), direct: false, size: None })
        }
        Some(Device::Block) => block_device(path, length, first, context),
        None if path.is_file() => named_file(path, length, first, context),
        None => Err(Unsupported::new(format!(
            "{} is not a medium: name a new file, a block device or a tape drive (prony run --suite tape --target-device PATH)",
            path.display()
        ))),
    }
}

fn block_device(
    path: &Path,
    length: u64,
    first: &[u8],
    context: &mut BenchmarkContext,
) -> Result<OpenedMedium, Unsupported> {
    let mut options = File::options();
    let options = options.read(true).write(true);
    let mut file = open_direct_alone(path, options)?;
    let direct = takes(&file, first)?;
    if !direct {
        drop(file);
        file = open_alone(path, options)?;
        context.note(format!(
            "blocks of {} bytes go through the page cache: the device's sectors are larger",
            first.len()
        ));
    }
    let size = file.seek(SeekFrom::End(0))?.min(length) / GRAIN * GRAIN;
    file.rewind()?;
    if size == 0 {
        return Err(Unsupported::new("the device holds less than four mebibytes"));
    }
    context.note(format!("{}: the first {size} bytes of a block device", path.display()));
    Ok(OpenedMedium { file, kind: Some(Device::Block), direct, size: Some(size) })
}

fn named_file(
    path: &Path,
    length: u64,
    first: &[u8],
    context: &mut BenchmarkContext,
) -> Result<OpenedMedium, Unsupported> {
    let mut options = File::options();
    let options = options.read(true).write(true);
    let plain = options.open(path)?;
    if !is_ours(&plain)? {
        return Err(Unsupported::new(format!("{} holds other data, which is not overwritten", path.display())));
    }
    if let Some(folder) = path.parent() {
        place::describe(folder, context);
        place::require_disk(folder)?;
        place::require_space(folder, length)?;
    }
    require_length(length)?;
    let (file, direct) = match past_cache(path, options, first) {
        Ok(file) => (file, true),
        Err(why) => {
            context.note(format!("{THROUGH_CACHE}: {why}"));
            (plain, false)
        }
    };
    Ok(OpenedMedium { file, kind: None, direct, size: Some(length) })
}

/// The note on a file that is read or written through the page cache, before the reason.
pub(super) const THROUGH_CACHE: &str = "through the page cache, made durable or dropped for each batch";

/// Opens a file past the page cache, and writes its first block there; else why that is not possible. Some file systems
/// refuse blocks of a size. Others take everything and keep it in the page cache all the same: ext4 with data=journal,
/// and those that compress or encrypt.
pub(super) fn past_cache(path: &Path, options: &OpenOptions, first: &[u8]) -> Result<File, String> {
    let file = open_direct(path, options).map_err(|error| error.to_string())?;
    if !takes(&file, first).map_err(|error| error.to_string())? {
        return Err(format!("blocks of {} bytes do not go past it", first.len()));
    }
    // A file that cannot be mapped counts as uncached.
    let cached = FileMap::new(&file).and_then(|map| map.cached_bytes()).unwrap_or(0);
    if cached > 0 { Err("this file system keeps what is written past it there".to_owned()) } else { Ok(file) }
}

/// Whether a file is empty or begins like the streams of these benchmarks.
fn is_ours(file: &File) -> Result<bool, Unsupported> {
    let mut first = [0; 8];
    let read = file.read_at(&mut first, 0)?;
    Ok(read == 0 || u64::from_ne_bytes(first) == MARK || first == *b"member-0")
}

/// Whether a block can be written past the page cache. If so, it becomes the first block of the medium.
fn takes(file: &File, first: &[u8]) -> kernels::Result<bool> {
    const INVALID: i32 = 22;
    match kernels::file::write_at(file, first, 0) {
        Ok(_) => Ok(true),
        Err(error) if error.errno() == Some(INVALID) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SampleSetting;
    use crate::scratch::tmpfs;

    #[test]
    fn a_file_in_memory_is_no_medium() {
        let Some(memory) = tmpfs() else { return testing::skip!("there is no file system in memory") };
        let file = memory.join(format!("prony-medium-{}", std::process::id()));
        std::fs::write(&file, b"").unwrap();
        let mut context = BenchmarkContext::new(SampleSetting::within(&file));
        let refused = open(&file, TransferDirection::Write, 4 * MIB, &[0; 4096], &mut context).err();
        std::fs::remove_file(&file).unwrap();
        let refused = refused.map(|not_measured| not_measured.to_string()).unwrap_or_default();
        assert!(refused.contains("is in memory (tmpfs)"), "{refused}");
    }

    /// Since Linux 6.6 such a file can be opened past the page cache, in which it lies.
    #[test]
    fn what_stays_in_the_page_cache_did_not_go_past_it() {
        let Some(memory) = tmpfs() else { return testing::skip!("there is no file system in memory") };
        let path = memory.join(format!("prony-past-{}", std::process::id()));
        let mut options = File::options();
        let options = options.read(true).write(true).create(true);
        let block = kernels::file::AlignedBuffer::new(MIB as usize).unwrap();
        let refused = past_cache(&path, options, &block).err();
        let _ = std::fs::remove_file(&path);
        assert!(refused.is_some_and(|why| !why.is_empty()), "a file in memory was written past the page cache");
    }
}
