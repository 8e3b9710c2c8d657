//! What an experiment may change, written down and synced before the first change, and restored from there.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::system::{GROUP, System};
use crate::{Error, UNDO};

/// Name of the journal in the folder of an experiment.
const NAME: &str = "experiment.json";
/// Name of the file that an experiment locks as long as it or its guardian lives.
const LOCK: &str = "experiment.lock";
/// Time in which the guardian of a killed experiment restores: a next start waits for it.
const GUARDED: Duration = Duration::from_secs(2);
/// Time in which processes that a killed experiment left must have ended.
const ENDING: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(10);

/// One value that an experiment may change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalItem {
    /// Id of the setting.
    pub setting: String,
    /// A file of `/proc` or `/sys`, or the address of another switch.
    pub address: String,
    /// The value as it was found.
    pub old: String,
    /// The values that the experiment sets.
    pub new: Vec<String>,
}

/// The journal of one experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// Name of the boot: no value of a setting outlives it.
    pub boot: String,
    /// All values, in the order in which they are restored.
    pub items: Vec<JournalItem>,
    /// Control groups that the experiment makes.
    pub groups: Vec<PathBuf>,
}

/// What happened to a value that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// Another program changed it meanwhile, so it stays.
    Foreign {
        /// Where.
        address: String,
        /// The present value.
        value: String,
        /// The value before the experiment.
        old: String,
    },
    /// It could not be restored, and stays in the journal.
    Failed {
        /// Where.
        address: String,
        /// Why.
        reason: String,
    },
}

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Foreign { address, value, old } => {
                write!(f, "{address} is {value}, which another program set: it stays (it was {old})")
            }
            Self::Failed { address, reason } => write!(f, "could not restore {address}: {reason}"),
        }
    }
}

/// The folder of an experiment's journal, while this process or its guardian holds its lock.
#[derive(Debug)]
pub struct JournalFolder {
    folder: PathBuf,
    pub(crate) lock: File,
}

impl JournalFolder {
    /// Claims the folder; waits for the guardian of an experiment that was killed just now.
    ///
    /// # Errors
    /// [`Error::Busy`] while another experiment runs.
    pub fn claim(folder: &Path) -> Result<Self, Error> {
        fs::create_dir_all(folder).map_err(|error| Error::file("create", folder, error))?;
        let path = folder.join(LOCK);
        let lock = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let lock = lock.map_err(|error| Error::file("open", &path, error))?;
        let until = Instant::now() + GUARDED;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Self { folder: folder.to_owned(), lock }),
                Err(fs::TryLockError::WouldBlock) if Instant::now() < until => kernels::timer::sleep(STEP),
                Err(fs::TryLockError::WouldBlock) => return Err(Error::Busy),
                Err(fs::TryLockError::Error(error)) => return Err(Error::file("lock", &path, error)),
            }
        }
    }

    /// Restores what the journal names, and removes it if nothing failed. The first number says how many values were
    /// changed back.
    ///
    /// # Errors
    /// When the journal cannot be read, or not be removed.
    pub fn restore(&self, system: &System) -> Result<(usize, Vec<Left>), Error> {
        restore_in(&self.folder, system)
    }

    /// Whether there is a journal.
    #[must_use]
    pub fn has_journal(&self) -> bool {
        self.folder.join(NAME).exists()
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes the journal, and returns when it is on the disk.
    pub(crate) fn write(&self, journal: &Journal) -> Result<(), Error> {
        write_in(&self.folder, journal)
    }
}

/// One line if an experiment that was killed may have left changes, unless it is being restored.
#[must_use]
pub fn left_behind(folder: &Path) -> Option<String> {
    if !folder.join(NAME).exists() {
        return None;
    }
    let lock = File::open(folder.join(LOCK)).ok();
    let held = lock.is_some_and(|lock| matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock)));
    (!held).then(|| format!("an experiment that was killed may have left settings changed; restore them with: {UNDO}"))
}

/// What [`JournalFolder::restore`] does, for a guardian: it holds the lock by inheritance.
pub(crate) fn restore_in(folder: &Path, system: &System) -> Result<(usize, Vec<Left>), Error> {
    let Some(journal) = read_in(folder, system)? else { return Ok((0, Vec::new())) };
    if journal.boot != system.boot() {
        remove_in(folder)?;
        return Ok((0, Vec::new()));
    }
    let (restored, left, open) = journal.restore(system);
    if open.items.is_empty() && open.groups.is_empty() {
        remove_in(folder)?;
    } else {
        write_in(folder, &open)?;
    }
    Ok((restored, left))
}

impl Journal {
    /// Restores every value that the experiment may have set. Returns how many it set back, what is not as it was, and
    /// the journal of what is still to be done.
    pub(crate) fn restore(&self, system: &System) -> (usize, Vec<Left>, Self) {
        let (mut restored, mut left) = (0, Vec::new());
        let mut open = Self { boot: self.boot.clone(), ..Self::default() };
        for item in &self.items {
            match item.restore(system) {
                Ok(Now::AsItWas) => {}
                Ok(Now::SetBack) => restored += 1,
                Ok(Now::Foreign(value)) => {
                    left.push(Left::Foreign { address: item.address.clone(), value, old: item.old.clone() });
                }
                Err(reason) => {
                    left.push(Left::Failed { address: item.address.clone(), reason });
                    open.items.push(item.clone());
                }
            }
        }
        for group in &self.groups {
            match remove_group(group) {
                Ok(removed) => restored += usize::from(removed),
                Err(reason) => {
                    left.push(Left::Failed { address: group.display().to_string(), reason });
                    open.groups.push(group.clone());
                }
            }
        }
        (restored, left, open)
    }

    /// Whether every entry is one that an experiment writes: a journal cannot make this program write anywhere else.
    fn check(&self, system: &System) -> Result<(), String> {
        for item in &self.items {
            let known = system.setting(&item.setting).is_some_and(|setting| system.names(setting, &item.address));
            if !known {
                return Err(format!("{} is no file of the setting {}", item.address, item.setting));
            }
        }
        let ours = |group: &&PathBuf| {
            let name = group.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(GROUP))
        };
        match self.groups.iter().find(|group| !ours(group)) {
            Some(group) => Err(format!("{} is no control group of an experiment", group.display())),
            None => Ok(()),
        }
    }
}

/// A value after it was restored.
enum Now {
    AsItWas,
    SetBack,
    /// Another program set this.
    Foreign(String),
}

impl JournalItem {
    fn restore(&self, system: &System) -> Result<Now, String> {
        let now = match system.read(&self.address) {
            Ok(now) => now,
            // What is gone has no value: an interface, a disk.
            Err(_) if system.is_gone(&self.address) => return Ok(Now::AsItWas),
            Err(reason) => return Err(reason),
        };
        if now == self.old {
            return Ok(Now::AsItWas);
        }
        if !self.new.contains(&now) {
            return Ok(Now::Foreign(now));
        }
        system.write(&self.address, &self.old)?;
        match system.read(&self.address)? {
            now if now == self.old => Ok(Now::SetBack),
            now => Err(format!("it stays {now} and was {}", self.old)),
        }
    }
}

/// Removes a control group; processes in it end with the experiment that started them.
fn remove_group(group: &Path) -> Result<bool, String> {
    let until = Instant::now() + ENDING;
    loop {
        match fs::remove_dir(group) {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(_) if Instant::now() < until => kernels::timer::sleep(STEP),
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn read_in(folder: &Path, system: &System) -> Result<Option<Journal>, Error> {
    let path = folder.join(NAME);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::file("read", &path, error)),
    };
    let refuse = |reason: String| Error::Journal { path: path.display().to_string(), reason };
    let journal: Journal = serde_json::from_slice(&text).map_err(|error| refuse(error.to_string()))?;
    journal.check(system).map_err(refuse)?;
    Ok(Some(journal))
}

/// Replaces the journal in one step: at no moment is there half of one.
fn write_in(folder: &Path, journal: &Journal) -> Result<(), Error> {
    let (path, fresh) = (folder.join(NAME), folder.join(format!("{NAME}.new")));
    let text = serde_json::to_vec_pretty(journal).map_err(std::io::Error::other);
    let written = text.and_then(|text| {
        let mut file = File::create(&fresh)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&fresh, &path)?;
        File::open(folder)?.sync_all()
    });
    written.map_err(|error| Error::file("write", &path, error))
}

fn remove_in(folder: &Path) -> Result<(), Error> {
    let path = folder.join(NAME);
    let removed = fs::remove_file(&path).and_then(|()| File::open(folder)?.sync_all());
    removed.map_err(|error| Error::file("remove", &path, error))
}
