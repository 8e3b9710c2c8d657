//! A shared directory in place of a coordinator: every process on every machine takes chunks, and publishes a result by
//! link(2), which never replaces an existing file.
//!
//! A result is written to a separate file, synced to the disk, and linked to the chunk's final name. EEXIST means that
//! another process was first, unless both names are the same file. Over NFS, a LINK that was sent twice answers EEXIST
//! to its own success (RFC 1813, 4.5, on retransmitted non-idempotent requests), so inodes are compared. Claims only
//! keep processes from doing the same chunk at the same time; correctness does not depend on them.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::words::hexadecimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::job::{ChunkResult, FarmJob};
use crate::{Error, Result, Totals};

/// Longest file that is read, bytes.
const LIMIT: u64 = 1 << 20;

/// A farm in a directory.
#[derive(Debug)]
pub struct SharedFarm {
    folder: PathBuf,
    job: FarmJob,
    who: String,
    sequence: u64,
}

/// A published result, as stored in the directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The chunk.
    pub chunk: u64,
    /// The node that computed it.
    pub node: String,
    /// The result.
    pub done: ChunkResult,
}

/// Outcome of publishing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linked {
    /// It is the first, and counts.
    Counted,
    /// Another result was first.
    Duplicate,
}

impl SharedFarm {
    /// Joins the farm of a directory, or creates it. `who` must be unique among all processes, such as host and process
    /// id.
    ///
    /// # Errors
    /// When the directory cannot be used, or holds another run.
    pub fn join(folder: &Path, job: &FarmJob, who: &str) -> Result<Self> {
        job.check()?;
        for part in ["results", "temporary", "claims", "refused"] {
            let path = folder.join(part);
            fs::create_dir_all(&path).map_err(Error::file("make", &path))?;
        }
        let mut farm = Self { folder: folder.to_owned(), job: job.clone(), who: who.to_owned(), sequence: 0 };
        let text = serde_json::to_vec_pretty(job).map_err(|error| Error::Usage(error.to_string()))?;
        farm.link(&text, &folder.join("job.json"))?;
        let found: FarmJob = read(&folder.join("job.json"))?;
        if found != *job {
            return Err(Error::Usage(format!(
                "{} holds another run, {}; use an empty one",
                folder.display(),
                found.name
            )));
        }
        Ok(farm)
    }

    /// Opens the farm of a directory that holds one.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(folder: &Path, who: &str) -> Result<Self> {
        let job = read(&folder.join("job.json"))?;
        Ok(Self { folder: folder.to_owned(), job, who: who.to_owned(), sequence: 0 })
    }

    /// The job.
    #[must_use]
    pub const fn job(&self) -> &FarmJob {
        &self.job
    }

    /// Whether a chunk has a result.
    #[must_use]
    pub fn is_done(&self, chunk: u64) -> bool {
        self.result(chunk).exists()
    }

    fn result(&self, chunk: u64) -> PathBuf {
        self.folder.join("results").join(format!("chunk-{chunk:09}.json"))
    }

    fn claim(&self, chunk: u64) -> PathBuf {
        self.folder.join("claims").join(format!("chunk-{chunk:09}"))
    }

    /// Writes text to a separate file, syncs it, and links it to `name`. Returns whether this was first.
    fn link(&mut self, text: &[u8], name: &Path) -> Result<Linked> {
        self.sequence += 1;
        let path = self.folder.join("temporary").join(format!("{}-{}", self.who, self.sequence));
        let write = || {
            let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path)?;
            file.write_all(text)?;
            file.sync_all()?;
            file.metadata()
        };
        let own = write().map_err(Error::file("write", &path))?;
        let linked = match fs::hard_link(&path, name) {
            Ok(()) => {
                sync_directory(name)?;
                Linked::Counted
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let there = fs::metadata(name).map_err(Error::file("look at", name))?;
                if (there.dev(), there.ino()) == (own.dev(), own.ino()) { Linked::Counted } else { Linked::Duplicate }
            }
            Err(error) => return Err(Error::file("link a result to", name)(error)),
        };
        fs::remove_file(&path).map_err(Error::file("remove", &path))?;
        Ok(linked)
    }

    /// Publishes a result; a duplicate is stored among the refused ones.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn publish(&mut self, result: &Published) -> Result<Linked> {
        let mut text = serde_json::to_vec(result).map_err(|error| Error::Usage(error.to_string()))?;
        let sum = checksum(&text);
        text.push(b'\n');
        text.extend_from_slice(sum.as_bytes());
        let linked = self.link(&text, &self.result(result.chunk))?;
        if linked == Linked::Duplicate {
            let name = format!("chunk-{:09}-{}-{}.json", result.chunk, self.who, self.sequence);
            self.link(&text, &self.folder.join("refused").join(name))?;
        }
        Ok(linked)
    }

    /// Claims a chunk without a result and without a live claim; the search begins at `from`. A claim older than
    /// `stale` by the file system's clock is dead.
    ///
    /// # Errors
    /// When the directory cannot be used.
    pub fn take(&mut self, from: u64, stale: Duration) -> Result<Option<u64>> {
        let chunks = self.job.chunks();
        for step in 0..chunks {
            let chunk = (from + step) % chunks;
            if !self.result(chunk).exists() && self.try_claim(chunk, stale)? {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }

    fn try_claim(&mut self, chunk: u64, stale: Duration) -> Result<bool> {
        let path = self.claim(chunk);
        match fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => return Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::file("claim", &path)(error)),
        }
        let claimed = match fs::metadata(&path).and_then(|found| found.modified()) {
            Ok(when) => when,
            // The claim's owner has just finished.
            Err(_) => return Ok(false),
        };
        // A live claim is renewed, and so never far in the future: one that is was made before the clock was set back.
        let distance = self.clock()?.duration_since(claimed).unwrap_or_else(|error| error.duration());
        if distance < stale {
            return Ok(false);
        }
        // Two processes may take over the same stale claim: both do the chunk, and one result counts.
        self.refresh(chunk)?;
        Ok(true)
    }

    /// Renews a claim.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn refresh(&self, chunk: u64) -> Result<()> {
        let path = self.claim(chunk);
        let mut file = File::create(&path).map_err(Error::file("claim", &path))?;
        file.write_all(self.who.as_bytes()).map_err(Error::file("claim", &path))
    }

    /// Time by the file system's clock, since clocks of hosts differ.
    fn clock(&self) -> Result<std::time::SystemTime> {
        let path = self.folder.join("temporary").join(format!("{}-clock", self.who));
        let stamp = || {
            let mut file = File::create(&path)?;
            file.write_all(b".")?;
            file.sync_all()?;
            file.metadata()?.modified()
        };
        stamp().map_err(Error::file("read the clock of", &path))
    }

    /// Totals of everything published; a file that is not a result of this run is an error.
    ///
    /// # Errors
    /// When a file cannot be read or is malformed.
    pub fn totals(&self) -> Result<Totals> {
        let mut totals = Totals::default();
        let mut distinct = crate::ChunkSet::new(self.job.chunks());
        for path in files(&self.folder.join("results"))? {
            let found = read_result(&path)?;
            let expected = self.job.cut(found.chunk).map(|cut| cut.events);
            if path != self.result(found.chunk) || expected != Some(found.done.events) {
                return Err(Error::Broken(format!("{} is not a result of this run", path.display())));
            }
            distinct.insert(found.chunk);
            totals.commits += 1;
            totals.events += found.done.events;
            totals.digest = totals.digest.wrapping_add(found.done.digest);
            totals.cpu += found.done.cpu.unwrap_or_default();
            totals.wall += found.done.wall.unwrap_or_default();
        }
        totals.distinct = distinct.count();
        for path in files(&self.folder.join("refused"))? {
            let refused = read_result(&path)?;
            let counted = read_result(&self.result(refused.chunk))?;
            totals.refused += 1;
            totals.wasted += refused.done.cpu.unwrap_or_default();
            let same = |one: &ChunkResult| (one.events, one.digest);
            totals.differing += u64::from(same(&counted.done) != same(&refused.done));
        }
        Ok(totals)
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>();
    list().map_err(Error::file("list", folder))
}

fn contents(path: &Path) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let file = File::open(path).map_err(Error::file("read", path))?;
    file.take(LIMIT).read_to_end(&mut text).map_err(Error::file("read", path))?;
    Ok(text)
}

/// SHA-256 of a result's line, which is the next line of its file.
fn checksum(line: &[u8]) -> String {
    hexadecimal(&Sha256::digest(line))
}

/// A published result. Its checksum may be missing.
fn read_result(path: &Path) -> Result<Published> {
    let text = contents(path)?;
    let mut lines = text.splitn(2, |byte| *byte == b'\n');
    let line = lines.next().unwrap_or_default();
    let sound = lines.next().is_none_or(|sum| sum == checksum(line).as_bytes());
    serde_json::from_slice(line).ok().filter(|_| sound).ok_or_else(|| {
        Error::Broken(format!("{} is damaged; remove it and run again, which does its chunk again", path.display()))
    })
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = contents(path)?;
    serde_json::from_slice(&text).map_err(|error| Error::Broken(format!("{} is malformed: {error}", path.display())))
}

/// Syncs the directory of a name: fsync(2) of a file does not make its name durable.
fn sync_directory(name: &Path) -> Result<()> {
    let folder = name.parent().unwrap_or_else(|| Path::new("."));
    File::open(folder).and_then(|file| file.sync_all()).map_err(Error::file("sync", folder))
}
