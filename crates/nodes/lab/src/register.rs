//! A register of laboratories: a small file for each, so that another process can enter or end one.
//!
//! The file's name holds the owner's process id and start time, so that a reused id is not mistaken for the owner. The
//! file is all that a killed owner leaves behind; [`sweep`] removes it.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kernels::signal::Signal;
use os::namespace::{NamespaceKind, enter};
use os::usage::Stat;
use serde::{Deserialize, Serialize};

use super::LabShape;
use crate::{Error, Result};

/// A laboratory of some process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabEntry {
    /// Process that holds it.
    pub owner: i32,
    /// Start of that process, clock ticks since boot.
    pub started: u64,
    /// Hosts.
    pub hosts: usize,
    /// Rate of every link, bits a second.
    pub bits_per_second: u64,
    /// Buffer of every port, bytes.
    pub port_buffer: u64,
    switch: i32,
    networks: Vec<i32>,
    #[serde(skip)]
    file: Option<PathBuf>,
}

/// The directory of the files, which only this user can write to.
fn directory() -> Result<PathBuf> {
    let owner = fs::metadata("/proc/self").map_err(Error::io("read the owner of this process"))?.uid();
    let base = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let path = base.join(format!("prony-labs-{}", outside(owner)));
    match DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(Error::io(format!("make {}", path.display()))(error));
        }
        _ => {}
    }
    let found = fs::symlink_metadata(&path).map_err(Error::io(format!("look at {}", path.display())))?;
    if !found.is_dir() || found.uid() != owner || found.mode() & 0o022 != 0 {
        return Err(Error::Lab(format!("{} belongs to another user; remove it", path.display())));
    }
    Ok(path)
}

/// The user id outside the user namespace that this process may be in.
fn outside(user: u32) -> u32 {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let row = |line: &str| -> Option<u32> {
        let numbers: Vec<u32> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [inside, outside, count] = numbers[..] else { return None };
        (user >= inside && user - inside < count).then(|| outside + (user - inside))
    };
    map.lines().find_map(row).unwrap_or(user)
}

impl LabEntry {
    pub(super) fn new(shape: &LabShape, switch: &File, networks: &[File]) -> Result<Self> {
        let owner = os::process::own_pid();
        let started = Stat::of(owner)?.started_ticks;
        let mut entry = Self {
            owner,
            started,
            hosts: shape.hosts,
            bits_per_second: shape.bits_per_second,
            port_buffer: shape.port_buffer,
            switch: switch.as_raw_fd(),
            networks: networks.iter().map(AsRawFd::as_raw_fd).collect(),
            file: None,
        };
        let text = serde_json::to_string(&entry).map_err(|error| Error::Lab(error.to_string()))?;
        // One process may hold several laboratories: the switch's descriptor distinguishes them.
        let path = directory()?.join(format!("{owner}-{started}-{}", entry.switch));
        fs::write(&path, text).map_err(Error::io(format!("write {}", path.display())))?;
        entry.file = Some(path);
        Ok(entry)
    }

    fn read(path: &Path) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let mut entry: Self = serde_json::from_str(&text).ok()?;
        entry.file = None;
        entry.alive().then_some(entry)
    }

    /// Whether the process that built it is still alive.
    #[must_use]
    pub fn alive(&self) -> bool {
        Stat::of(self.owner).is_ok_and(|stat| stat.started_ticks == self.started && stat.state != 'Z')
    }

    /// Path at which the owner holds a host's network open.
    fn link(&self, host: usize) -> Result<String> {
        let fd = self
            .networks
            .get(host)
            .ok_or_else(|| Error::Usage(format!("there is no host {host}; there are {}", self.networks.len())))?;
        Ok(format!("/proc/{}/fd/{fd}", self.owner))
    }

    /// Inode number of a host's network namespace.
    ///
    /// # Errors
    /// When there is no such host, or its owner has ended.
    pub fn network(&self, host: usize) -> Result<u64> {
        let link = self.link(host)?;
        Ok(fs::metadata(&link).map_err(Error::io(format!("look at {link}")))?.ino())
    }

    /// Moves the calling thread to a host. A laboratory in a user namespace can only be entered by a process with one
    /// thread.
    ///
    /// # Errors
    /// When there is no such host, or the kernel refuses.
    pub fn enter(&self, host: usize) -> Result<()> {
        let open = |path: String| File::open(&path).map_err(Error::io(format!("open {path}")));
        let network = open(self.link(host)?)?;
        let users = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/user")).ok();
        if users("self") != users(&self.owner.to_string()) {
            enter(open(format!("/proc/{}/ns/user", self.owner))?, NamespaceKind::User)?;
        }
        Ok(enter(network, NamespaceKind::Network)?)
    }
}

impl Drop for LabEntry {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // If this fails, the next sweep removes the file.
            let _ = fs::remove_file(file);
        }
    }
}

/// The existing laboratories of this user's processes.
///
/// # Errors
/// When the directory cannot be read.
pub fn labs() -> Result<Vec<LabEntry>> {
    let directory = directory()?;
    let files = fs::read_dir(&directory).map_err(Error::io(format!("read {}", directory.display())))?;
    Ok(files.flatten().filter_map(|file| LabEntry::read(&file.path())).collect())
}

/// Removes the files of laboratories whose owners have ended, and returns their number. The kernel has removed the
/// laboratories themselves.
pub fn sweep() -> usize {
    let Ok(files) = directory().and_then(|path| fs::read_dir(path).map_err(Error::io("read a directory"))) else {
        return 0;
    };
    let dead = |file: &fs::DirEntry| LabEntry::read(&file.path()).is_none();
    files.flatten().filter(dead).filter(|file| fs::remove_file(file.path()).is_ok()).count()
}

/// Kills every process in this network namespace, and returns their number. Used for a laboratory whose owner has
/// ended, which a remaining process would keep alive.
#[must_use]
pub fn end_all_in(network: u64) -> usize {
    /// Scans in a row that find nothing: a process may appear behind the first scan.
    const EMPTY: u32 = 3;
    const PATIENCE: Duration = Duration::from_secs(10);
    // Never the namespace of this process itself.
    if fs::metadata("/proc/self/ns/net").map_or(network, |found| found.ino()) == network {
        return 0;
    }
    let (began, mut ended, mut empty) = (Instant::now(), HashSet::new(), 0);
    while empty < EMPTY && began.elapsed() < PATIENCE {
        let found = kill_in(network);
        empty = if found.is_empty() { empty + 1 } else { 0 };
        ended.extend(found);
        kernels::timer::sleep(Duration::from_millis(2));
    }
    ended.len()
}

/// Kills the processes that are seen in a network namespace, once. One that is ending is seen no more.
fn kill_in(network: u64) -> Vec<i32> {
    let inside = |process: &fs::DirEntry| -> Option<i32> {
        let number: i32 = process.file_name().to_str()?.parse().ok()?;
        (fs::metadata(process.path().join("ns/net")).ok()?.ino() == network).then_some(number)
    };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|process| inside(&process));
    all.filter(|number| os::process::send(*number, Some(Signal::Kill)).is_ok()).collect()
}

/// Sends the owner of a laboratory SIGTERM.
///
/// # Errors
/// When it has ended already, or belongs to another user.
pub fn down(entry: &LabEntry) -> Result<()> {
    if !entry.alive() {
        return Err(Error::Gone(format!("process {} has ended", entry.owner)));
    }
    Ok(os::process::send(entry.owner, Some(Signal::Terminate))?)
}
