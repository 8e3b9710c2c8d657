//! Input files on the local disk: copied once, checked before each use, and kept within a limit.
//!
//! Copies are in a directory of this user alone, so that no other user can put anything there or keep this one out. An
//! entry is named after the source's path, size and time of change, so that a source that changed is another entry. A
//! lock of the entry (flock(2)) is held exclusively while it is copied, and shared while it is used. So an entry in use
//! is never removed, and two slots do not copy the same file at one time. The time of the lock's file is that of the
//! last use.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use model::words::hexadecimal;
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// The file whose lock is shared by all that use a directory of copies.
const USERS: &str = "users.lock";
/// Permissions of other users.
const OTHERS: u32 = 0o077;

/// A directory of copies.
#[derive(Debug)]
pub struct StageCache {
    folder: PathBuf,
    /// Bytes of all copies, at most.
    limit: u64,
    /// Whether the last user of the directory removes it.
    is_temporary: bool,
    users: File,
}

/// Identifies a file and its contents at one time.
type FileState = [i64; 7];

/// A file that can be read as long as this value lives.
#[derive(Debug)]
pub struct StagedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes that were copied for it now; 0 if it was there already.
    pub copied: u64,
    /// Its SHA-256, hexadecimal.
    pub sha256: String,
    /// Its state before its checksum was read.
    state: Option<FileState>,
    lock: Option<File>,
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if let Some(lock) = &self.lock {
            let _ = lock.unlock();
        }
    }
}

impl StagedFile {
    /// Checks after its use that the file is still the one whose checksum was compared.
    ///
    /// # Errors
    /// When it was changed or replaced.
    pub fn check(&self) -> Result<()> {
        let Some(state) = &self.state else { return Ok(()) };
        let found = fs::metadata(&self.path).map_err(Error::file("find the input", &self.path))?;
        if state_of(&found) == *state {
            return Ok(());
        }
        Err(Error::Work(format!("the input {} changed while it was read", self.path.display())))
    }
}

impl Drop for StageCache {
    fn drop(&mut self) {
        let _ = self.users.unlock();
        if self.is_temporary && self.users.try_lock().is_ok() {
            // It gets another name first, so that later users make a new one. Remains are in a directory for temporary
            // files.
            if let Some(own) = locked(&self.users, &self.folder.join(USERS)) {
                let gone = self.folder.with_extension(format!("gone-{own}"));
                let _ = fs::rename(&self.folder, &gone).and_then(|()| fs::remove_dir_all(&gone));
            }
            let _ = self.users.unlock();
        }
    }
}

impl StageCache {
    /// The cache of this user below a directory. Copies of one `run` are in a temporary cache, whose name no one else
    /// can know before it is there, and which its last user removes.
    ///
    /// # Errors
    /// When it cannot be created, or others may change its contents.
    pub fn below(folder: &Path, run: Option<&str>, limit: u64) -> Result<Self> {
        let user = rustix::process::geteuid().as_raw();
        match run {
            Some(run) => Self::open(&folder.join(format!("prony-stage-{user}-{run}")), limit, true),
            None => Self::open(&folder.join(format!("prony-stage-{user}")), limit, false),
        }
    }

    fn open(folder: &Path, limit: u64, is_temporary: bool) -> Result<Self> {
        let place = folder.join(USERS);
        loop {
            make_private(folder)?;
            let users = match lock_file(&place) {
                // Its last user has just removed it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                users => users.map_err(Error::file("make", &place))?,
            };
            users.lock_shared().map_err(Error::file("lock", &place))?;
            if locked(&users, &place).is_some() {
                return Ok(Self { folder: folder.to_owned(), limit, is_temporary, users });
            }
        }
    }

    /// A copy of a file. `expected` is its SHA-256, where it is known. A file for which there is no room is left where
    /// it is, and only its checksum is compared.
    ///
    /// # Errors
    /// When it cannot be read or copied, or its checksum is another.
    pub fn fetch(&self, source: &Path, expected: Option<&str>) -> Result<StagedFile> {
        let found = fs::metadata(source).map_err(Error::file("find the input", source))?;
        let key = key(source, &found);
        let entry = self.folder.join(format!("{key}.data"));
        let lock = self.lock(&key)?;
        let mut copied = 0;
        loop {
            lock.lock_shared().map_err(Error::file("lock", &entry))?;
            if let Some((sha256, state)) = known(&entry) {
                compare(source, expected, &sha256)?;
                lock.set_modified(SystemTime::now()).map_err(Error::file("use", &entry))?;
                return Ok(StagedFile { path: entry, copied, sha256, state: Some(state), lock: Some(lock) });
            }
            if copied > 0 {
                return Err(Error::Work(format!("the copy of {} differs from what was read", source.display())));
            }
            lock.unlock().and_then(|()| lock.lock()).map_err(Error::file("lock", &entry))?;
            // Another process may have copied it in between.
            if known(&entry).is_none() {
                if !self.make_room(found.len(), &key)? {
                    let (sha256, state) = File::open(source).and_then(read).map_err(Error::file("read", source))?;
                    compare(source, expected, &sha256)?;
                    let state = expected.map(|_| state);
                    return Ok(StagedFile { path: source.to_owned(), copied: 0, sha256, state, lock: Some(lock) });
                }
                let sha256 = copy(source, &entry).map_err(Error::file("copy the input", source))?;
                if let Err(error) = compare(source, expected, &sha256) {
                    // A copy of something wrong is of no use to anyone.
                    remove(&entry);
                    return Err(error);
                }
                copied = found.len().max(1);
            }
            lock.unlock().map_err(Error::file("unlock", &entry))?;
        }
    }

    fn lock(&self, key: &str) -> Result<File> {
        let path = self.folder.join(format!("{key}.lock"));
        lock_file(&path).map_err(Error::file("make", &path))
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
                    && let Ok(found) = fs::symlink_metadata(&path)
                {
                    let used = fs::symlink_metadata(path.with_extension("lock")).and_then(|lock| lock.modified());
                    entries.push((used.unwrap_or(SystemTime::UNIX_EPOCH), found.len(), path));
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
            if remove(&path) {
                used -= size;
            }
            let _ = lock.unlock();
        }
        Ok(used + bytes <= self.limit)
    }
}

/// The inode of a locked file, if it is still the one at this path.
fn locked(file: &File, path: &Path) -> Option<u64> {
    let (own, found) = (file.metadata().ok()?, fs::symlink_metadata(path).ok()?);
    (found.ino() == own.ino() && found.dev() == own.dev()).then(|| own.ino())
}

/// Makes a directory that only this user can enter, or checks that an existing one is such.
fn make_private(folder: &Path) -> Result<()> {
    let parent = folder.parent().unwrap_or(folder);
    fs::create_dir_all(parent).map_err(Error::file("make", parent))?;
    let above = fs::metadata(parent).map_err(Error::file("look at", parent))?;
    if above.mode() & 0o1002 == 0o002 {
        return Err(Error::Usage(format!(
            "every user may replace what is in {}: it needs the sticky bit (chmod +t)",
            parent.display()
        )));
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(Error::file("make", folder)(error)),
        _ => {}
    }
    // A symbolic link is not followed: it may lead to a directory of someone else.
    let opened = OpenOptions::new().read(true).custom_flags(flags(OFlags::DIRECTORY | OFlags::NOFOLLOW)).open(folder);
    let found = opened.and_then(|opened| opened.metadata()).map_err(Error::file("use as a directory", folder))?;
    if found.uid() == rustix::process::geteuid().as_raw() && found.mode() & OTHERS == 0 {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "{} is not private: its owner is user {} and its mode {:03o}; remove it, or stage files elsewhere",
        folder.display(),
        found.uid(),
        found.mode() & 0o777
    )))
}

fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

fn lock_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags(OFlags::NOFOLLOW)).open(path)
}

/// A new file in place of any other one.
fn create(path: &Path) -> std::io::Result<File> {
    let _ = fs::remove_file(path);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// The checksum of a file, and its state before.
fn read(mut file: File) -> std::io::Result<(String, FileState)> {
    let state = state_of(&file.metadata()?);
    let sha256 = pass(&mut file, |_| Ok(()))?;
    Ok((sha256, state))
}

/// Reads a file to its end, and returns its checksum.
fn pass(file: &mut File, mut each: impl FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<String> {
    let (mut sha, mut buffer) = (Sha256::new(), vec![0; 1 << 18]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hexadecimal(&sha.finalize())),
            count => {
                sha.update(&buffer[..count]);
                each(&buffer[..count])?;
            }
        }
    }
}

/// The checksum and state of an entry whose contents are those that were copied.
fn known(entry: &Path) -> Option<(String, FileState)> {
    let sum = fs::read_to_string(entry.with_extension("sha256")).ok()?;
    let file = OpenOptions::new().read(true).custom_flags(flags(OFlags::NOFOLLOW)).open(entry).ok()?;
    let (found, state) = read(file).ok()?;
    (found == sum).then_some((found, state))
}

/// Copies a file, and notes the checksum of the copied bytes.
fn copy(source: &Path, entry: &Path) -> std::io::Result<String> {
    remove(entry);
    let temporary = entry.with_extension("part");
    let (mut from, mut to) = (File::open(source)?, create(&temporary)?);
    let sha256 = pass(&mut from, |piece| to.write_all(piece))?;
    to.sync_all()?;
    fs::rename(&temporary, entry)?;
    create(&entry.with_extension("sha256"))?.write_all(sha256.as_bytes())?;
    Ok(sha256)
}

/// Removes an entry. Returns whether it was there.
fn remove(entry: &Path) -> bool {
    let _ = fs::remove_file(entry.with_extension("sha256"));
    fs::remove_file(entry).is_ok()
}

fn state_of(found: &fs::Metadata) -> FileState {
    let (device, inode, bytes) = (found.dev().cast_signed(), found.ino().cast_signed(), found.len().cast_signed());
    [device, inode, bytes, found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()]
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
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    fn sum(path: &Path) -> String {
        File::open(path).and_then(read).unwrap().0
    }

    #[test]
    fn a_file_is_copied_once_and_checked() {
        let folder = tempfile::tempdir().unwrap();
        let cache = StageCache::open(&folder.path().join("cache"), 100, false).unwrap();
        let source = folder.path().join("a");
        fs::write(&source, "0123456789").unwrap();
        let sum = sum(&source);
        let first = cache.fetch(&source, Some(&sum)).unwrap();
        assert_eq!((first.copied, fs::read_to_string(&first.path).unwrap().as_str()), (10, "0123456789"));
        let second = cache.fetch(&source, None).unwrap();
        assert_eq!((second.copied, &second.path, &second.sha256), (0, &first.path, &sum));
        first.check().unwrap();
        let said = cache.fetch(&source, Some(&"0".repeat(64))).unwrap_err().to_string();
        assert!(said.contains("was expected"), "{said}");
        // A source that changed is another file.
        fs::write(&source, "changed!").unwrap();
        assert_eq!(cache.fetch(&source, None).unwrap().copied, 8);
    }

    /// The checksum is that of the file that is read, not of one that was read when it was copied.
    #[test]
    fn a_copy_that_changed_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a");
        fs::write(&source, "0123456789").unwrap();
        let expected = sum(&source);
        for limit in [100, 5] {
            let cache = StageCache::open(&folder.path().join(format!("cache-{limit}")), limit, false).unwrap();
            let staged = cache.fetch(&source, Some(&expected)).unwrap();
            staged.check().unwrap();
            fs::write(&staged.path, "0123x56789").unwrap();
            assert!(staged.check().unwrap_err().to_string().contains("changed while it was read"), "{limit}");
            let path = staged.path.clone();
            drop(staged);
            if path == source {
                assert!(cache.fetch(&source, Some(&expected)).unwrap_err().to_string().contains("was expected"));
                continue;
            }
            let again = cache.fetch(&source, Some(&expected)).unwrap();
            assert_eq!((again.copied, fs::read_to_string(&again.path).unwrap().as_str()), (10, "0123456789"));
        }
    }

    #[test]
    fn a_directory_that_others_may_use_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (place, secret) = (folder.path().join("cache"), folder.path().join("secret"));
        fs::write(&secret, "only mine").unwrap();
        let source = folder.path().join("a");
        fs::write(&source, "0123456789").unwrap();
        let refused = |why: &str| {
            let said = StageCache::open(&place, 100, true).unwrap_err().to_string();
            assert!(said.contains(why) && said.contains("cache"), "{said}");
        };
        fs::create_dir(&place).unwrap();
        for mode in [0o777, 0o1777, 0o755, 0o770] {
            fs::set_permissions(&place, PermissionsExt::from_mode(mode)).unwrap();
            refused("is not private");
        }
        fs::set_permissions(&place, PermissionsExt::from_mode(0o700)).unwrap();
        if rustix::process::geteuid().is_root() {
            chown(&place, Some(65_534), None).unwrap();
            refused("its owner is user 65534");
            chown(&place, Some(0), None).unwrap();
        }
        // A link to a private directory of this user is not followed either.
        fs::rename(&place, folder.path().join("other")).unwrap();
        symlink(folder.path().join("other"), &place).unwrap();
        refused("could not use as a directory");
        fs::remove_file(&place).unwrap();
        // If everyone may rename the directory, nothing in it is safe.
        let open = folder.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
        let said = StageCache::open(&open.join("cache"), 100, true).unwrap_err().to_string();
        assert!(said.contains("sticky bit"), "{said}");
        // No link inside is followed: neither is a file written over, nor read in place of a copy.
        let cache = StageCache::open(&place, 100, false).unwrap();
        let name = key(&source, &fs::metadata(&source).unwrap());
        for end in ["part", "sha256", "data"] {
            symlink(&secret, place.join(format!("{name}.{end}"))).unwrap();
        }
        let staged = cache.fetch(&source, None).unwrap();
        assert_eq!(fs::read_to_string(&staged.path).unwrap(), "0123456789");
        assert_eq!(fs::read_to_string(&secret).unwrap(), "only mine");
        assert_eq!(fs::metadata(&place).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_last_user_removes_a_temporary_directory() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("cache");
        let source = folder.path().join("a");
        fs::write(&source, "0123456789").unwrap();
        let open = || StageCache::open(&place, 100, true).unwrap();
        let (first, second) = (open(), open());
        drop(first.fetch(&source, None).unwrap());
        drop(first);
        assert_eq!(second.fetch(&source, None).unwrap().copied, 0, "it was removed while it was used");
        drop(second);
        assert!(!place.exists());
        // One after the other, from several threads.
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|_| drop(open().fetch(&source, None).unwrap())));
            }
        });
        assert!(!place.exists());
        drop(StageCache::open(&place, 100, false).unwrap());
        assert!(place.exists());
    }

    #[test]
    fn the_limit_holds_and_what_is_used_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = StageCache::open(&folder.path().join("cache"), 25, false).unwrap();
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
