//! Many small files, at most a hundred per directory.
//!
//! Without a journal, ext4 skips inodes that were freed in the last minutes, one by one, before it allocates another
//! (`recently_deleted` in its `ialloc.c`). The time of creating files therefore depends on the number that earlier
//! samples removed. In a group from which 6,000 files were removed a minute before, a creation took 350 us instead of
//! 12 us. Each sample therefore works in a block group without recent removals, if the file system permits it. It tries
//! eight, and its note has the times of a creation in the fastest and in the slowest.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use model::{KIB, Parameters};

use super::place;
use crate::{BenchmarkContext, BenchmarkError, Parameter, Scratch, Unsupported};

/// The parameters of creating and removing files.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::choice("size", &["0B", "1KiB", "4KiB", "10KiB"], &["0B"]),
    Parameter::choice("durability", &["none", "fsync"], &["none"]),
    place::place(&["target", "tmpfs"]),
];

/// Most files of a batch.
pub(super) const BATCH: u64 = 200;
/// Most files that are made singly, each timed, where there is room for them.
const SINGLE: u64 = 4000;

const A_FOLDER: usize = 100;

/// Files of one size in folders of a hundred.
pub(super) struct Folders {
    directory: PathBuf,
    _scratch: Rc<Scratch>,
    folders: Vec<(PathBuf, File)>,
    paths: Vec<PathBuf>,
    content: Vec<u8>,
    durable: bool,
    /// Most files at a time.
    most: u64,
}

impl Folders {
    /// An empty set in the directory of a set of parameters.
    pub(super) fn new(
        name: &'static str,
        at: &Parameters,
        context: &mut BenchmarkContext,
    ) -> Result<Self, Unsupported> {
        let size = at.bytes("size")?;
        let each = size + 4 * KIB;
        let scratch = place::open(at, context, BATCH * each)?;
        let most = (place::room(scratch.path())? / each).clamp(BATCH, SINGLE);
        let durable = at.choice("durability")? == "fsync";
        let (directory, times) = fastest_directory(scratch.path(), &format!("{name}-{at}-{:x}", context.seed()))
            .map_err(|error| Unsupported::new(format!("could not create a directory for the files: {error}")))?;
        if let [fastest, .., slowest] = times[..] {
            let micros = |time: Duration| time.as_nanos() as f64 * 1e-3;
            context.note(format!(
                "in the fastest of {} new directories, each in a block group of its own: a creation took {:.1} µs there \
                 and {:.1} µs in the slowest",
                times.len(),
                micros(fastest),
                micros(slowest)
            ));
        }
        let content = (0..size).map(|index| (index * 31 + context.seed()) as u8).collect();
        Ok(Self { directory, _scratch: scratch, folders: Vec::new(), paths: Vec::new(), content, durable, most })
    }

    /// Most files at a time, for which there is room.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Removes every file, and prepares folders and names for `count`.
    pub(super) fn prepare(&mut self, count: u64) -> Result<(), BenchmarkError> {
        for (folder, _) in &self.folders {
            for entry in fs::read_dir(folder)? {
                fs::remove_file(entry?.path())?;
            }
        }
        let count = count as usize;
        while self.folders.len() < count.div_ceil(A_FOLDER) {
            let path = self.directory.join(format!("folder-{}", self.folders.len()));
            fs::create_dir(&path)?;
            let open = File::open(&path)?;
            self.folders.push((path, open));
        }
        while self.paths.len() < count {
            let index = self.paths.len();
            self.paths.push(self.folders[index / A_FOLDER].0.join(format!("file-{:02}", index % A_FOLDER)));
        }
        Ok(())
    }

    /// Creates file `index` and its content; durable including its name if the parameters require it.
    #[inline]
    pub(super) fn create(&self, index: u64) -> Result<(), BenchmarkError> {
        let mut file = File::create_new(&self.paths[index as usize])?;
        if !self.content.is_empty() {
            file.write_all(&self.content)?;
        }
        if self.durable {
            kernels::file::sync(&file)?;
            self.sync_folder(index)?;
        }
        Ok(())
    }

    /// Removes file `index`, durably if the parameters require it.
    #[inline]
    pub(super) fn delete(&self, index: u64) -> Result<(), BenchmarkError> {
        fs::remove_file(&self.paths[index as usize])?;
        if self.durable {
            self.sync_folder(index)?;
        }
        Ok(())
    }

    fn sync_folder(&self, index: u64) -> Result<(), BenchmarkError> {
        Ok(kernels::file::sync(&self.folders[index as usize / A_FOLDER].1)?)
    }

    /// Number of files of the right size on disk. A wrong size or too many files in a folder is an error.
    pub(super) fn found(&self) -> Result<u64, BenchmarkError> {
        let mut files = 0;
        for (folder, _) in &self.folders {
            let mut here = 0;
            for entry in fs::read_dir(folder)? {
                BenchmarkError::unless_equal(entry?.metadata()?.len(), self.content.len() as u64)?;
                here += 1;
            }
            if here > A_FOLDER as u64 {
                return Err(BenchmarkError::new(format!("{here} files are in one directory")));
            }
            files += here;
        }
        Ok(files)
    }
}

/// Directories that are tried: ext4 puts each into another block group, one of those with fewest directories.
const CANDIDATES: usize = 8;
/// Files created in each to measure how fast it is at best.
const TRIED: usize = 16;

/// The one of several new directories in which files are created fastest, and the time in each, rising.
fn fastest_directory(inside: &Path, name: &str) -> io::Result<(PathBuf, Vec<Duration>)> {
    let spread = os::file::spread_directories(inside).map_err(io::Error::other)?;
    let candidates = if spread { CANDIDATES } else { 1 };
    let mut tried = Vec::new();
    for number in 0..candidates {
        // ext4 chooses the first group to try by the name, which therefore differs between samples.
        let path = inside.join(format!("{name}-{number}"));
        fs::create_dir(&path)?;
        tried.push((fastest(&path)?, path));
    }
    tried.sort();
    let best = tried.first().map(|(_, path)| path.clone()).unwrap_or_default();
    Ok((best, tried.into_iter().map(|(time, _)| time).collect()))
}

/// The shortest time of creating a file there; the first files read the tables of the group from disk.
fn fastest(folder: &Path) -> io::Result<Duration> {
    let mut fastest = Duration::MAX;
    for index in 0..TRIED {
        let path = folder.join(index.to_string());
        let began = Instant::now();
        drop(File::create_new(&path)?);
        fastest = fastest.min(began.elapsed());
        fs::remove_file(&path)?;
    }
    Ok(fastest)
}

#[cfg(test)]
mod tests {
    use model::MIB;

    use super::*;
    use crate::SampleSetting;

    /// As in a container, whose file system in memory has 64 MiB.
    #[test]
    fn there_need_only_be_room_for_a_batch() {
        let directory = tempfile::tempdir().unwrap();
        let mut context = BenchmarkContext::new(SampleSetting::within(directory.path()));
        let at = "size=10KiB,durability=none,place=target".parse().unwrap();
        let folders = match Folders::new("test", &at, &mut context) {
            Ok(folders) => folders,
            Err(not_measured) => return testing::skip!("{not_measured}"),
        };
        assert!((BATCH..=SINGLE).contains(&folders.most()));
        const { assert!(BATCH * (10 + 4) * KIB < 64 * MIB / 2, "a batch needs little") };
        assert!(folders.most() * (10 + 4) * KIB <= place::room(directory.path()).unwrap() || folders.most() == BATCH);
    }

    #[test]
    fn no_directory_has_more_than_a_hundred_files() {
        let directory = tempfile::tempdir().unwrap();
        let mut context = BenchmarkContext::new(SampleSetting::within(directory.path()));
        let at = "size=1KiB,durability=none,place=target".parse().unwrap();
        let mut folders = match Folders::new("test", &at, &mut context) {
            Ok(folders) => folders,
            Err(not_measured) => return testing::skip!("{not_measured}"),
        };
        for count in [250, 101, 1] {
            folders.prepare(count).unwrap();
            (0..count).for_each(|index| folders.create(index).unwrap());
            assert_eq!(folders.found().unwrap(), count);
        }
        folders.delete(0).unwrap();
        assert_eq!(folders.found().unwrap(), 0);
        drop((folders, context));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left");
    }
}
