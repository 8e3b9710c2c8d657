//! A file whose pages are all in the page cache, with known content.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use kernels::memory::FileMap;
use model::{KIB, MIB, Parameters};
use os::usage::{Usage, Who};

use super::place;
use crate::room::{require_length, require_memory};
use crate::{BenchmarkContext, BenchmarkError, Scratch, Unsupported};

/// Bytes of the file: more than the caches of a core, so that rereading it accesses memory.
pub(super) const SIZE: u64 = 64 * MIB;
/// Bytes of a block; the sum of each block is known.
pub(super) const BLOCK: usize = 64 * KIB as usize;
/// Blocks of the file.
pub(super) const BLOCKS: u64 = SIZE / BLOCK as u64;

/// The file.
pub(super) struct Cached {
    _scratch: Rc<Scratch>,
    pub(super) path: PathBuf,
    pub(super) file: File,
    seed: u64,
    /// Bytes in the page cache after it was written and read; `None` if the system does not report it.
    resident: Option<u64>,
}

impl Cached {
    /// Writes it in the directory of a set of parameters, once for all sharers of a sample.
    pub(super) fn shared(at: &Parameters, context: &mut BenchmarkContext) -> Result<Rc<Self>, Unsupported> {
        Self::shared_if(at, context, |directory| {
            place::require_space(directory, SIZE)?;
            // In a control group with less memory the file would be read from its disk instead.
            require_memory(SIZE)?;
            require_length(SIZE)
        })
    }

    /// The same if there is room for it, which only the first sharer needs: the others find the file there, and its
    /// room taken.
    fn shared_if(
        at: &Parameters,
        context: &mut BenchmarkContext,
        has_room: impl FnOnce(&Path) -> Result<(), Unsupported>,
    ) -> Result<Rc<Self>, Unsupported> {
        let seed = context.seed();
        let scratch = place::open(at, context, 0)?;
        let cached = context.shared(&format!("cached_file:{}", at.choice("place")?), || {
            has_room(scratch.path())?;
            Self::write(scratch, seed)
        })?;
        if let Some(note) = cached.resident.and_then(not_cached) {
            context.note(note);
        }
        Ok(cached)
    }

    fn write(scratch: Rc<Scratch>, seed: u64) -> Result<Self, Unsupported> {
        let path = scratch.path().join("cached");
        let mut file = File::options().read(true).write(true).create_new(true).open(&path)?;
        let mut block = Vec::with_capacity(BLOCK);
        for number in 0..BLOCKS {
            block.clear();
            (0..BLOCK as u64 / 8).for_each(|index| block.extend((first(seed, number) + index).to_ne_bytes()));
            file.write_all(&block)?;
        }
        let mut cached = Self { _scratch: scratch, path, file, seed, resident: None };
        // Reading it verifies the content, and reloads pages that a small cache has dropped. The second reading of a
        // page moves it to the kernel's list of active ones, which costs a twentieth of the read: rereading begins
        // after that.
        for number in (0..BLOCKS).chain(0..BLOCKS) {
            let read = kernels::file::read_at(&cached.file, &mut block, number * BLOCK as u64)?;
            if read != BLOCK || sum(&block) != cached.sum(number) {
                return Err(Unsupported::new("the file did not keep its content"));
            }
        }
        cached.resident = resident(&cached.file);
        Ok(cached)
    }

    /// Verifies that no page has left the cache since it was written; otherwise the data came from the disk.
    pub(super) fn verify_cached(&self) -> Result<(), BenchmarkError> {
        self.verify_resident(resident(&self.file))
    }

    fn verify_resident(&self, now: Option<u64>) -> Result<(), BenchmarkError> {
        match (self.resident, now) {
            (Some(before), Some(now)) if now < before => {
                let [now, before] = [now, before].map(model::format_size);
                Err(BenchmarkError::new(format!(
                    "{now} of the file were in the page cache after the reads, {before} before; the rest was read \
                     from its disk"
                )))
            }
            _ => Ok(()),
        }
    }

    /// The first word of a block.
    pub(super) fn first(&self, number: u64) -> u64 {
        first(self.seed, number)
    }

    /// The sum of the words of a block, from its definition.
    pub(super) fn sum(&self, number: u64) -> u64 {
        let words = BLOCK as u64 / 8;
        self.first(number).wrapping_mul(words).wrapping_add(words * (words - 1) / 2)
    }

    /// The sum of the words of the whole file.
    pub(super) fn total(&self) -> u64 {
        (0..BLOCKS).fold(0, |total, number| total.wrapping_add(self.sum(number)))
    }
}

/// Bytes of the file in the page cache; `None` where the system does not tell. Mapping the file touches no page of it.
fn resident(file: &File) -> Option<u64> {
    FileMap::new(file).and_then(|map| map.cached_bytes()).ok()
}

/// The note for a file that is not wholly in the page cache although it was just read twice.
fn not_cached(resident: u64) -> Option<String> {
    (resident < SIZE).then(|| {
        let [resident, all] = [resident, SIZE].map(model::format_size);
        format!(
            "only {resident} of {all} are in the page cache after two readings; the file system reads the rest from \
             its own cache or its disk"
        )
    })
}

/// The note for a batch during which blocks came from a disk.
pub(super) const FROM_DISK: &str = "part of the file had left the page cache, and was read from its disk";

/// Blocks that this thread has read from disks; 0 where the system does not count them.
pub(super) fn read_from_disk() -> u64 {
    Usage::of(Who::Thread).map_or(0, |usage| usage.blocks_in)
}

/// First word of block `number`; word `index` is this plus `index`.
fn first(seed: u64, number: u64) -> u64 {
    (seed ^ (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 8
}

/// Sum of the words of a buffer.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().fold(0, |sum: u64, word| sum.wrapping_add(u64::from_ne_bytes(*word)))
}

/// Reads a whole block into `buffer`.
#[inline]
pub(super) fn read_block(file: &File, buffer: &mut [u8], number: u64) -> Result<(), BenchmarkError> {
    let read = kernels::file::read_at(file, buffer, number * BLOCK as u64)?;
    if read == buffer.len() {
        Ok(())
    } else {
        Err(BenchmarkError::new(format!("a read of the file ended after {read} bytes")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SampleSetting;

    /// A file whose pages were dropped is read from its disk, which is no cached read. A file system in memory keeps
    /// them all the same.
    #[test]
    fn pages_that_left_the_cache_are_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let mut context = BenchmarkContext::new(SampleSetting::within(directory.path()));
        let cached = Cached::shared_if(&"place=target".parse().unwrap(), &mut context, |_| Ok(())).unwrap();
        assert_eq!(not_cached(SIZE), None);
        assert!(not_cached(SIZE - MIB).unwrap().starts_with("only 63MiB of 64MiB are"), "{:?}", not_cached(SIZE - MIB));
        let Some(all) = cached.resident else { return };
        // Other tests may need the memory.
        assert!(cached.verify_resident(Some(all)).is_ok() && cached.verify_resident(None).is_ok());
        let said = cached.verify_resident(Some(all - MIB)).unwrap_err().to_string();
        assert!(said.contains("read from its disk"), "{said}");
        cached.file.sync_all().unwrap();
        kernels::file::advise(&cached.file, kernels::file::Advice::DontNeed).unwrap();
        let now = resident(&cached.file).unwrap();
        assert_eq!(cached.verify_cached().is_err(), now < all, "{now} of {all}");
    }

    #[test]
    fn only_the_first_sharer_needs_room() {
        let directory = tempfile::tempdir().unwrap();
        let setting = SampleSetting::within(directory.path());
        let mut context = BenchmarkContext::new(setting.clone());
        let at = "place=target".parse().unwrap();
        let none = |_: &Path| Err(Unsupported::new("there is no room"));
        assert!(Cached::shared_if(&at, &mut context, none).is_err());
        let one = Cached::shared_if(&at, &mut context, |_| Ok(())).unwrap();
        let other = Cached::shared_if(&at, &mut context.for_benchmark(setting), none).unwrap();
        assert!(Rc::ptr_eq(&one, &other));
    }
}
