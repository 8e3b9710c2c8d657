//! Input files on the local disk: copied once, checked, and kept within a limit.
//!
//! An entry is named after the source's path, size and time of change, so that a source that changed is another entry.
//! A lock of the entry (flock(2)) is held exclusively while it is copied, and shared while it is used: an entry in use
//! is never removed, and two slots do not copy the same file at one time.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::products::{checksum, hexadecimal};
use crate::{Error, Result};

/// A directory of copies.
#[derive(Debug, Clone)]
pub struct StageCache {
    folder: PathBuf,
    /// Bytes of all copies, at most.
    limit: u64,
}

/// A file that can be read as long as this value lives.
#[derive(Debug)]
pub struct StagedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes that were copied for it now; 0 if it was there already.
    pub copied: u64,
    /// Its SHA-256, hexadecimal; empty where it was left at its source.
    pub sha256: String,
    lock: Option<File>,
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if let Some(lock) = &self.lock {
            let _ = lock.unlock();
        }
    }
}

impl StageCache {
    /// A cache in a directory, which is created if it does not exist.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn open(folder: &Path, limit: u64) -> Result<Self> {
        fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
        Ok(Self { folder: folder.to_owned(), limit })
    }

    /// A copy of a file. `expected` is its SHA-256, where it is known. A file for which there is no room is left where
    /// it is, and only its checksum is compared.
    ///
    /// # Errors
    /// When it cannot be read or copied, or its checksum is another.
    pub fn fetch(&self, source: &Path, expected: Option<&str>) -> Result<StagedFile> {
        let found = fs::metadata(source).map_err(Error::file("find the input", source))?;
        let key = key(source, &found);
        let (entry, sum) = (self.folder.join(format!("{key}.data")), self.folder.join(format!("{key}.sha256")));
        let lock = self.lock(&key)?;
        let known =
            || fs::read_to_string(&sum).ok().filter(|_| fs::metadata(&entry).is_ok_and(|one| one.len() == found.len()));
        let mut copied = 0;
        loop {
            lock.lock_shared().map_err(Error::file("lock", &entry))?;
            if let Some(sha256) = known() {
                compare(source, expected, &sha256)?;
                // The time of the last use, by which entries are removed.
                File::open(&entry)
                    .and_then(|file| file.set_modified(SystemTime::now()))
                    .map_err(Error::file("use", &entry))?;
                return Ok(StagedFile { path: entry, copied, sha256, lock: Some(lock) });
            }
            lock.unlock().and_then(|()| lock.lock()).map_err(Error::file("lock", &entry))?;
            // Another process may have copied it meanwhile.
            if known().is_none() {
                if !self.make_room(found.len(), &key)? {
                    let (_, sha256) = checksum(source).map_err(Error::file("read", source))?;
                    compare(source, expected, &sha256)?;
                    return Ok(StagedFile { path: source.to_owned(), copied: 0, sha256, lock: Some(lock) });
                }
                let sha256 = self.copy(source, &entry, &sum)?;
                if let Err(error) = compare(source, expected, &sha256) {
                    // A copy of something wrong is of no use to anyone.
                    let _ = (fs::remove_file(&entry), fs::remove_file(&sum));
                    return Err(error);
                }
                copied = found.len();
            }
            lock.unlock().map_err(Error::file("unlock", &entry))?;
        }
    }

    fn lock(&self, key: &str) -> Result<File> {
        let path = self.folder.join(format!("{key}.lock"));
        File::options().write(true).create(true).truncate(false).open(&path).map_err(Error::file("make", &path))
    }

    /// Copies a file, and reads the copy again to compare it with what was read first.
    fn copy(&self, source: &Path, entry: &Path, sum: &Path) -> Result<String> {
        let temporary = entry.with_extension("part");
        let copy = || {
            let (mut from, mut to) = (File::open(source)?, File::create(&temporary)?);
            let (mut sha, mut buffer) = (Sha256::new(), vec![0; 1 << 18]);
            loop {
                match from.read(&mut buffer)? {
                    0 => break,
                    count => {
                        sha.update(&buffer[..count]);
                        to.write_all(&buffer[..count])?;
                    }
                }
            }
            to.sync_all()?;
            Ok(hexadecimal(&sha.finalize()))
        };
        let read = copy().map_err(Error::file("copy the input", source))?;
        let (_, written) = checksum(&temporary).map_err(Error::file("read", &temporary))?;
        if read != written {
            return Err(Error::Work(format!("the copy of {} differs from what was read", source.display())));
        }
        fs::rename(&temporary, entry).and_then(|()| fs::write(sum, &read)).map_err(Error::file("keep", entry))?;
        Ok(read)
    }

    /// Removes the entries that were used longest ago until there is room. Returns whether there is.
    fn make_room(&self, bytes: u64, own: &str) -> Result<bool> {
        if bytes > self.limit {
            return Ok(false);
        }
        let list = || -> std::io::Result<Vec<(SystemTime, u64, PathBuf)>> {
            let mut entries = Vec::new();
            for entry in fs::read_dir(&self.folder)? {
                let path = entry?.path();
                // Another process may just have removed it.
                if path.extension().is_some_and(|end| end == "data")
                    && let Ok(found) = fs::metadata(&path)
                {
                    entries.push((found.modified()?, found.len(), path));
                }
            }
            Ok(entries)
        };
        let mut entries = list().map_err(Error::file("list", &self.folder))?;
        entries.sort();
        let mut used: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, size, path) in entries {
            if used + bytes <= self.limit {
                break;
            }
            let key = path.file_stem().and_then(|key| key.to_str()).unwrap_or_default().to_owned();
            if key == own {
                continue;
            }
            let lock = self.lock(&key)?;
            // Another process uses it, and holds its lock.
            if lock.try_lock().is_err() {
                continue;
            }
            let sum = path.with_extension("sha256");
            if fs::remove_file(&path).is_ok() {
                used -= size;
            }
            let _ = (fs::remove_file(&sum), lock.unlock());
        }
        Ok(used + bytes <= self.limit)
    }
}

/// Whether a checksum is the expected one.
fn compare(source: &Path, expected: Option<&str>, found: &str) -> Result<()> {
    match expected.filter(|expected| !expected.eq_ignore_ascii_case(found)) {
        None => Ok(()),
        Some(expected) => Err(Error::Work(format!(
            "the input {} has the checksum {found}, and {expected} was expected",
            source.display()
        ))),
    }
}

fn key(source: &Path, found: &fs::Metadata) -> String {
    let mut sha = Sha256::new();
    sha.update(source.as_os_str().as_encoded_bytes());
    for number in
        [found.dev(), found.ino(), found.len(), found.mtime().cast_unsigned(), found.mtime_nsec().cast_unsigned()]
    {
        sha.update(number.to_be_bytes());
    }
    hexadecimal(&sha.finalize())[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_copied_once_and_checked() {
        let folder = tempfile::tempdir().unwrap();
        let cache = StageCache::open(&folder.path().join("cache"), 100).unwrap();
        let source = folder.path().join("a");
        fs::write(&source, "0123456789").unwrap();
        let sum = checksum(&source).unwrap().1;
        let first = cache.fetch(&source, Some(&sum)).unwrap();
        assert_eq!((first.copied, fs::read_to_string(&first.path).unwrap().as_str()), (10, "0123456789"));
        let second = cache.fetch(&source, None).unwrap();
        assert_eq!((second.copied, &second.path, &second.sha256), (0, &first.path, &sum));
        let said = cache.fetch(&source, Some(&"0".repeat(64))).unwrap_err().to_string();
        assert!(said.contains("was expected"), "{said}");
        // A source that changed is another file.
        fs::write(&source, "changed!").unwrap();
        assert_eq!(cache.fetch(&source, None).unwrap().copied, 8);
    }

    #[test]
    fn the_limit_holds_and_what_is_used_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = StageCache::open(&folder.path().join("cache"), 25).unwrap();
        let make = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, name.repeat(10)).unwrap();
            path
        };
        let bytes = || -> u64 {
            let all = fs::read_dir(folder.path().join("cache")).unwrap().map(|entry| entry.unwrap().path());
            all.filter(|path| path.extension().is_some_and(|end| end == "data"))
                .map(|path| path.metadata().unwrap().len())
                .sum()
        };
        let used = cache.fetch(&make("a"), None).unwrap();
        drop(cache.fetch(&make("b"), None).unwrap());
        // The third takes the place of the second: the first is older, and in use.
        drop(cache.fetch(&make("c"), None).unwrap());
        assert!(used.path.exists() && bytes() == 20);
        assert_eq!(cache.fetch(&make("a"), None).unwrap().copied, 10, "written again, it is another file");
        let large = folder.path().join("large");
        fs::write(&large, "x".repeat(26)).unwrap();
        let left = cache.fetch(&large, None).unwrap();
        assert_eq!((left.path.as_path(), left.copied), (large.as_path(), 0), "no room: it is read where it is");
        assert!(bytes() <= 25);
    }
}
