//! Directories of samples: made for one, removed with it, also where it was killed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use os::file::filesystem;

use crate::Unsupported;

/// A directory that is removed with everything in it when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Id of the process that created it: its forked children must not remove it.
    owner: u32,
}

impl Scratch {
    /// A new one for the sample with this seed, inside a directory.
    pub(crate) fn new(inside: &Path, seed: u64) -> Result<Self, Unsupported> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let owner = std::process::id();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = inside.join(format!("{}{number}", prefix(owner, seed)));
        std::fs::create_dir_all(&path).map_err(|error| Unsupported::new(not_made(inside, &error)))?;
        Ok(Self { path, owner })
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Why no directory could be made in another.
fn not_made(inside: &Path, error: &std::io::Error) -> String {
    format!("could not create a directory in {}: {error}; name one that can be written (--directory)", inside.display())
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if std::process::id() == self.owner {
            // A failure here has no remedy; the doctor of the next run lists leftover directories.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// How the names of all directories of one sample begin. The seed distinguishes samples of several hosts that share a
/// file system.
fn prefix(owner: u32, seed: u64) -> String {
    format!("{}{seed:x}-", os::process::prefix_of(owner))
}

/// Removes leftovers of killed processes in directories and in memory. Files that another host or container may use
/// stay.
pub fn remove_abandoned<'a>(directories: impl IntoIterator<Item = &'a Path>) {
    directories.into_iter().for_each(os::process::remove_abandoned);
    if let Some(memory) = tmpfs() {
        os::process::remove_abandoned(&memory);
    }
}

/// Removes leftovers of a killed sample in its target directories and in memory.
pub fn remove_scratch(owner: u32, seed: u64, directories: &[&Path]) {
    let prefix = prefix(owner, seed);
    let memory = tmpfs();
    for directory in directories.iter().copied().chain(memory.as_deref()) {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)) {
                // A failure here has no remedy; the doctor lists leftover directories.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// A directory of a file system in memory that can be written.
#[must_use]
pub fn tmpfs() -> Option<PathBuf> {
    ["/dev/shm", "/run/shm", "/tmp", "/run"]
        .iter()
        .map(PathBuf::from)
        .chain(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from))
        .find(|path| filesystem(path).is_ok_and(|found| found.kind == "tmpfs") && writable(path))
}

fn writable(directory: &Path) -> bool {
    let trial = directory.join(format!("{}trial", os::process::owned_prefix()));
    std::fs::create_dir(&trial).and_then(|()| std::fs::remove_dir(&trial)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchmarkContext, SampleSetting};

    #[test]
    fn scratch_is_removed_with_its_last_holder() {
        let home = tempfile::tempdir().unwrap();
        let setting = SampleSetting {
            seed: 1,
            cpus: vec![],
            allowed: vec![],
            cache: 0,
            directory: home.path().to_owned(),
            variant: None,
            calibrating: false,
        };
        let mut context = BenchmarkContext::new(setting.clone());
        let mut other = context.for_benchmark(setting);
        let (first, again) = (context.scratch().unwrap(), context.scratch().unwrap());
        assert_eq!(first.path(), again.path());
        assert_ne!(first.path(), other.scratch().unwrap().path(), "sharers of a sample do not share directories");
        std::fs::write(first.path().join("file"), "content").unwrap();
        drop((context, other, again));
        assert!(first.path().exists());
        remove_scratch(std::process::id(), 2, &[home.path()]);
        remove_scratch(std::process::id() + 1, 1, &[home.path()]);
        assert!(first.path().exists(), "that of another sample is not touched");
        remove_scratch(std::process::id(), 1, &[home.path()]);
        assert!(!first.path().exists());
        drop(first);
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    }
}
