//! Files that chunks produce: like a result, the files of a chunk count once.
//!
//! ```text
//! DIR/.prony-farm                  name of the run
//! DIR/.attempts/CHUNK-LEASE/...    private place of one attempt
//! DIR/000012/chunk-000012345/...   what counts
//! DIR/.set-aside/...               files of results that do not count any more
//! ```
//!
//! An attempt writes into its private place. Its files are synced, and their checksums go with the result into the
//! ledger. If the result counts, each file is linked to its final name by link(2), which never replaces a file, and the
//! private place is removed. Lease numbers never repeat, so no two attempts share a place. After a crash the ledger
//! knows whether the attempt of a private place counts, and [`ProductFolder::settle`] publishes or removes it. Over NFS
//! a LINK that was sent twice answers EEXIST to its own success (RFC 1813, on retransmitted non-idempotent requests),
//! so inodes are compared, then checksums.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use model::words::hexadecimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

mod aside;
mod repair;

pub use repair::Repaired;

use crate::{Error, Result};

/// Files of a chunk, at most: their names and checksums are part of one message.
const MAX_FILES: usize = 128;
/// Bytes of the list of a chunk's files in a message, at most: what else the message holds is short.
pub(crate) const MAX_LIST: usize = 60 << 10;
/// Longest name of a file, bytes.
const MAX_NAME: usize = 200;
/// Chunks in a directory: file systems do not like millions of names in one.
const SHARD: u64 = 1000;
/// The file that says whose products these are.
const MARK: &str = ".prony-farm";
const ATTEMPTS: &str = ".attempts";

/// One file of a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Product {
    /// Its path below the chunk's directory.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its contents (FIPS 180-4), hexadecimal.
    pub sha256: String,
}

impl Product {
    /// Whether the name stays below its directory and the checksum is one.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let path = Path::new(&self.name);
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        let plain = !self.name.chars().any(char::is_control);
        inside
            && plain
            && (1..=MAX_NAME).contains(&self.name.len())
            && self.sha256.len() == 64
            && self.sha256.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

/// Whether a list of products can be kept.
pub(crate) fn are_sound(products: &[Product]) -> bool {
    products.len() <= MAX_FILES && products.iter().all(Product::is_sound)
}

/// The directory of a run's products, seen by all nodes and by the coordinator.
#[derive(Debug, Clone)]
pub struct ProductFolder {
    folder: PathBuf,
}

/// The outcome of abandoned private places.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settled {
    /// Attempts that count, and whose files were published only now.
    pub published: u64,
    /// Attempts that do not count, removed.
    pub removed: u64,
    /// Attempts of unfinished chunks, left alone.
    pub open: u64,
    /// Attempts that count, and of whose files some are lost.
    pub lost: u64,
}

impl ProductFolder {
    /// The directory of a run, created if it does not exist. Tries what publishing needs.
    ///
    /// # Errors
    /// When it belongs to another run, or its file system has no hard links.
    pub fn create(folder: &Path, farm: &str) -> Result<Self> {
        let this = Self { folder: folder.to_owned() };
        let attempts = folder.join(ATTEMPTS);
        fs::create_dir_all(&attempts).map_err(Error::file("make", &attempts))?;
        let mark = folder.join(MARK);
        match File::create_new(&mark) {
            Ok(mut file) => {
                file.write_all(farm.as_bytes()).and_then(|()| file.sync_all()).map_err(Error::file("write", &mark))?;
                sync(folder)?;
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::file("write", &mark)(error)),
        }
        this.check_mark(farm)?;
        let trial = attempts.join("link");
        let _ = fs::remove_file(&trial);
        fs::hard_link(&mark, &trial).map_err(Error::file("use hard links, which products need, in", folder))?;
        fs::remove_file(&trial).map_err(Error::file("remove", &trial))?;
        Ok(this)
    }

    /// The directory of a run as a pilot finds it.
    ///
    /// # Errors
    /// When it is not there or belongs to another run: a directory that is not mounted must not be filled instead.
    pub fn join(folder: &Path, farm: &str) -> Result<Self> {
        let this = Self { folder: folder.to_owned() };
        this.check_mark(farm)?;
        Ok(this)
    }

    fn check_mark(&self, farm: &str) -> Result<()> {
        let mark = self.folder.join(MARK);
        let found = fs::read_to_string(&mark).map_err(Error::file("find the products of this run: read", &mark))?;
        if found == farm {
            return Ok(());
        }
        Err(Error::Usage(format!("{} holds products of another run, {found}; use an empty one", self.folder.display())))
    }

    fn place(&self, chunk: u64, number: u64) -> PathBuf {
        self.folder.join(ATTEMPTS).join(format!("{chunk}-{number}"))
    }

    /// Path of a chunk's published products.
    #[must_use]
    pub fn of_chunk(&self, chunk: u64) -> PathBuf {
        self.folder.join(format!("{:06}", chunk / SHARD)).join(format!("chunk-{chunk:09}"))
    }

    /// The private place of an attempt, new and empty.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn begin(&self, chunk: u64, number: u64) -> Result<PathBuf> {
        let place = self.place(chunk, number);
        fs::create_dir(&place).map_err(Error::file("make", &place))?;
        Ok(place)
    }

    /// Brings the files of an attempt to the disk and reads their checksums.
    ///
    /// # Errors
    /// When a file cannot be read, is no regular file, or there are too many.
    pub fn collect(&self, chunk: u64, number: u64) -> Result<Vec<Product>> {
        let place = self.place(chunk, number);
        let mut products = Vec::new();
        collect_below(&place, &place, &mut products)?;
        products.sort_by(|a, b| a.name.cmp(&b.name));
        // A longer message would be refused again and again.
        let bytes = serde_json::to_vec(&products).map_or(usize::MAX, |text| text.len());
        if bytes > MAX_LIST {
            return Err(Error::Work(format!(
                "names of {} files take {bytes} bytes, more than {MAX_LIST}",
                products.len()
            )));
        }
        sync(&self.folder.join(ATTEMPTS))?;
        Ok(products)
    }

    /// Publishes the files of the attempt that counts, and removes its private place. It may be called again, and by
    /// several processes at one time.
    ///
    /// # Errors
    /// When a file is lost, another one has its final name, or the directory cannot be written.
    pub fn publish(&self, chunk: u64, number: u64, products: &[Product]) -> Result<()> {
        let (place, target) = (self.place(chunk, number), self.of_chunk(chunk));
        let mut folders = std::collections::BTreeSet::new();
        for product in products {
            let (from, to) = (place.join(&product.name), target.join(&product.name));
            let parent = to.parent().unwrap_or(&target).to_owned();
            fs::create_dir_all(&parent).map_err(Error::file("make", &parent))?;
            match fs::hard_link(&from, &to) {
                Ok(()) => {}
                // Another process, or an earlier life of this one, was here.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
                    if !is_same_file(&from, &to) && fault(&to, product, true).is_some() {
                        return Err(Error::file("publish", &to)(error));
                    }
                }
                Err(error) => return Err(Error::file("publish", &to)(error)),
            }
            folders.extend(parent.ancestors().take_while(|above| above.starts_with(&self.folder)).map(Path::to_owned));
        }
        for folder in folders.iter().rev() {
            sync(folder)?;
        }
        self.discard(chunk, number)
    }

    /// Removes the private place of an attempt.
    ///
    /// # Errors
    /// When it cannot be removed; not when it is gone already.
    pub fn discard(&self, chunk: u64, number: u64) -> Result<()> {
        let place = self.place(chunk, number);
        match fs::remove_dir_all(&place) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::file("remove", &place)(error)),
            _ => Ok(()),
        }
    }

    /// Finishes what attempts left behind: `counted` gives the lease number and the products of the result that counts.
    /// Files that another result left in their place are moved aside. If files are lost, the private place stays.
    ///
    /// # Errors
    /// When the directory cannot be used, or `counted` fails.
    pub fn settle(&self, counted: &mut dyn FnMut(u64) -> Result<Option<(u64, Vec<Product>)>>) -> Result<Settled> {
        let is_fault = |error: &Error| {
            let kind = if let Error::File { source, .. } = error { source.kind() } else { ErrorKind::Other };
            matches!(kind, ErrorKind::AlreadyExists | ErrorKind::NotFound)
        };
        let mut settled = Settled::default();
        for (chunk, number) in self.attempts()? {
            match counted(chunk)? {
                Some((winner, products)) if winner == number => {
                    let mut published = self.publish(chunk, number, &products);
                    if published.as_ref().is_err_and(is_fault) && self.set_aside(chunk)?.is_some() {
                        published = self.publish(chunk, number, &products);
                    }
                    match published {
                        Err(error) if is_fault(&error) => settled.lost += 1,
                        done => {
                            done?;
                            settled.published += 1;
                        }
                    }
                }
                Some(_) => {
                    self.discard(chunk, number)?;
                    settled.removed += 1;
                }
                None => settled.open += 1,
            }
        }
        Ok(settled)
    }

    /// Chunk and lease number of all private places.
    fn attempts(&self) -> Result<Vec<(u64, u64)>> {
        let folder = self.folder.join(ATTEMPTS);
        let mut found = Vec::new();
        for entry in fs::read_dir(&folder).map_err(Error::file("list", &folder))? {
            let name = entry.map_err(Error::file("list", &folder))?.file_name();
            let parts = name.to_str().and_then(|name| name.split_once('-'));
            found.extend(parts.and_then(|(chunk, number)| Some((chunk.parse().ok()?, number.parse().ok()?))));
        }
        Ok(found)
    }

    /// Faults of a chunk's published files, in words: missing, of another size, not in the ledger, and where `contents`
    /// are read, with another checksum.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn faults(&self, chunk: u64, products: &[Product], contents: bool) -> Result<Vec<String>> {
        let folder = self.of_chunk(chunk);
        let mut faults: Vec<String> =
            products.iter().filter_map(|product| fault(&folder.join(&product.name), product, contents)).collect();
        let mut there = Vec::new();
        list_below(&folder, &mut there)?;
        let known = |path: &PathBuf| products.iter().any(|product| folder.join(&product.name) == *path);
        faults.extend(
            there.iter().filter(|path| !known(path)).map(|path| format!("{} is not in the ledger", path.display())),
        );
        Ok(faults)
    }

    /// Directories in place of those of chunks for which `known` is true.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn strangers(&self, known: &dyn Fn(u64) -> bool) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for shard in subdirectories(&self.folder)? {
            // Other directories are no concern of the run.
            let name = shard.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.len() < 6 || !name.bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            found.extend(subdirectories(&shard)?.into_iter().filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let chunk = name.strip_prefix("chunk-").and_then(|number| number.parse().ok());
                !chunk.is_some_and(|chunk| known(chunk) && self.of_chunk(chunk) == *path)
            }));
        }
        Ok(found)
    }

    /// Private places that are left.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn left(&self) -> Result<Vec<PathBuf>> {
        Ok(self.attempts()?.into_iter().map(|(chunk, number)| self.place(chunk, number)).collect())
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// The fault of a published file; with `contents`, its checksum is compared.
fn fault(path: &Path, product: &Product, contents: bool) -> Option<String> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) => return Some(format!("{}: {error}", path.display())),
    };
    if !found.is_file() || found.len() != product.bytes {
        return Some(format!("{} has {} bytes, the ledger says {}", path.display(), found.len(), product.bytes));
    }
    match contents.then(|| checksum(path))? {
        Ok((_, sum)) if sum == product.sha256 => None,
        Ok(_) => Some(format!("{} has other contents than the committed file", path.display())),
        Err(error) => Some(format!("{}: {error}", path.display())),
    }
}

/// Size and SHA-256 of a file.
pub(crate) fn checksum(path: &Path) -> std::io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let (mut sha, mut buffer, mut bytes) = (Sha256::new(), vec![0; 1 << 18], 0);
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => {
                sha.update(&buffer[..count]);
                bytes += count as u64;
            }
        }
    }
    Ok((bytes, hexadecimal(&sha.finalize())))
}

fn collect_below(root: &Path, folder: &Path, products: &mut Vec<Product>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::file("list", folder))? {
        let path = entry.map_err(Error::file("list", folder))?.path();
        let kind = fs::symlink_metadata(&path).map_err(Error::file("look at", &path))?.file_type();
        if kind.is_dir() {
            collect_below(root, &path, products)?;
            continue;
        }
        if !kind.is_file() {
            return Err(Error::Work(format!("{} is neither a file nor a directory", path.display())));
        }
        File::open(&path).and_then(|file| file.sync_all()).map_err(Error::file("bring to the disk", &path))?;
        let (bytes, sha256) = checksum(&path).map_err(Error::file("read", &path))?;
        let name = path.strip_prefix(root).ok().and_then(Path::to_str).unwrap_or_default().to_owned();
        let product = Product { name, bytes, sha256 };
        if !product.is_sound() {
            return Err(Error::Work(format!("{} has a name that cannot be kept", path.display())));
        }
        products.push(product);
        if products.len() > MAX_FILES {
            return Err(Error::Work(format!("a chunk made more than {MAX_FILES} files; pack them into one")));
        }
    }
    sync(folder)
}

fn list_below(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::file("list", folder)(error)),
    };
    for entry in entries {
        let path = entry.map_err(Error::file("list", folder))?.path();
        if path.is_dir() && !path.is_symlink() { list_below(&path, found)? } else { found.push(path) }
    }
    Ok(())
}

fn subdirectories(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    Ok(list().map_err(Error::file("list", folder))?.into_iter().filter(|path| path.is_dir()).collect())
}

/// Brings the names in a directory to the disk: fsync(2) of a file does not do that.
pub(crate) fn sync(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|file| file.sync_all()).map_err(Error::file("sync", folder))
}

#[cfg(test)]
mod tests;
