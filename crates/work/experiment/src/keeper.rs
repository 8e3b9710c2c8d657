//! The keeper changes the system for an experiment and restores it, however the experiment ends. Its guardian is a
//! process of its own that sees this one end.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::journal::{Journal, JournalFolder, JournalItem, Left, restore_in};
use crate::system::{System, group_weight, weight_file};
use crate::{Error, Setting};

/// Changes values of a system. When it is dropped, all of them are as they were.
#[derive(Debug)]
pub struct Keeper {
    system: System,
    folder: JournalFolder,
    journal: Journal,
    guardian: Child,
    /// Whether anything may differ from what it was.
    changed: bool,
    left: Vec<Left>,
}

impl Keeper {
    /// Starts the guardian, then writes the journal of all that may be changed. `guardian` must run [`guard`] on
    /// `folder`.
    ///
    /// # Errors
    /// When another experiment runs or left changes, or there can be no journal or no guardian.
    pub fn begin(
        system: System,
        folder: &Path,
        items: Vec<JournalItem>,
        groups: Vec<std::path::PathBuf>,
        mut guardian: Command,
    ) -> Result<Self, Error> {
        let folder = JournalFolder::claim(folder)?;
        if folder.has_journal() {
            return Err(Error::Left);
        }
        let journal = Journal { boot: system.boot(), items, groups };
        let lock = folder.lock.try_clone().map_err(|error| Error::file("share the lock of", folder.folder(), error))?;
        // Ctrl-C goes to the group of the terminal, so the guardian leaves it before it is started. Its standard
        // output is the lock, which is free when both processes have ended.
        guardian.stdin(Stdio::piped()).stdout(Stdio::from(lock)).process_group(0);
        let child = guardian.spawn().map_err(|error| Error::file("start the guardian of", folder.folder(), error))?;
        // From here on the guardian restores whatever the journal names.
        let mut keeper = Self { system, folder, journal, guardian: child, changed: false, left: Vec::new() };
        keeper.folder.write(&keeper.journal)?;
        keeper.make_groups()?;
        Ok(keeper)
    }

    fn make_groups(&mut self) -> Result<(), Error> {
        for group in &self.journal.groups {
            let refuse = |error| Error::file("make the control group", group, error);
            std::fs::create_dir(group).map_err(refuse)?;
            let version = if group.join("cgroup.controllers").exists() { 2 } else { 1 };
            let (file, usual) = weight_file(version);
            let percent = group_weight(group).unwrap_or(100);
            std::fs::write(group.join(file), (u64::from(usual) * percent / 100).max(2).to_string()).map_err(refuse)?;
        }
        Ok(())
    }

    /// Sets all values of a setting.
    ///
    /// # Errors
    /// When the guardian has ended, another program changed a value, or a value is not accepted. Then everything is
    /// restored.
    pub fn set(&mut self, setting: &Setting, value: &str) -> Result<(), Error> {
        let set = self.try_set(setting, value);
        if set.is_err() {
            self.restore();
        }
        set
    }

    fn try_set(&mut self, setting: &Setting, value: &str) -> Result<(), Error> {
        let refuse = |reason: String| Error::NotSet { title: setting.title.to_owned(), reason };
        if !matches!(self.guardian.try_wait(), Ok(None)) {
            return Err(refuse("the guardian that would restore it has ended".to_owned()));
        }
        self.changed = true;
        for item in self.journal.items.iter().filter(|item| item.setting == setting.id) {
            let now = self.system.read(&item.address).map_err(refuse)?;
            if now != item.old && !item.new.contains(&now) {
                return Err(refuse(format!("another program set {} to {now}", item.address)));
            }
            if now == value {
                continue;
            }
            self.system.write(&item.address, value).map_err(refuse)?;
            let now = self.system.read(&item.address).map_err(refuse)?;
            if now != value {
                // The kernel made another value of it, which is still this program's doing.
                self.system.write(&item.address, &item.old).map_err(refuse)?;
                return Err(refuse(format!("{} became {now} instead of {value}", item.address)));
            }
        }
        Ok(())
    }

    /// Restores every value; control groups stay.
    pub fn restore(&mut self) {
        if !self.changed {
            return;
        }
        let values = Journal { groups: Vec::new(), ..self.journal.clone() };
        let (_, left, open) = values.restore(&self.system);
        self.changed = !open.items.is_empty();
        for one in left.into_iter().filter(|one| matches!(one, Left::Foreign { .. })) {
            if !self.left.contains(&one) {
                self.left.push(one);
            }
        }
    }

    /// Restores everything, and ends the guardian.
    ///
    /// # Errors
    /// When the journal cannot be removed. It stays then.
    pub fn end(mut self) -> Result<Vec<Left>, Error> {
        self.finish()
    }

    fn finish(&mut self) -> Result<Vec<Left>, Error> {
        let restored = match self.folder.has_journal() {
            true => self.folder.restore(&self.system),
            false => Ok((0, Vec::new())),
        };
        drop(self.guardian.stdin.take());
        // It ends by itself: it reads the end of its input.
        let _ = self.guardian.wait();
        let mut left = std::mem::take(&mut self.left);
        for one in restored?.1 {
            if !left.contains(&one) {
                left.push(one);
            }
        }
        Ok(left)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // What fails here stays in the journal, and the next command says so.
        let _ = self.finish();
    }
}

/// The work of a guardian: waits for the end of the experiment at the other end of `input`, and restores what is left.
///
/// # Errors
/// When the journal cannot be read or replaced.
pub fn guard(system: &System, folder: &Path, mut input: impl Read) -> Result<(usize, Vec<Left>), Error> {
    // Without a session of its own it is still in a group of its own.
    let _ = os::process::leave_session();
    let mut piece = [0; 64];
    // An error means that there is nobody at the other end either.
    while matches!(input.read(&mut piece), Ok(1..)) {}
    restore_in(folder, system)
}

/// Standard input as a file, which no buffer of the library holds.
#[must_use]
pub fn standard_input() -> Option<File> {
    use std::os::fd::AsFd;
    std::io::stdin().as_fd().try_clone_to_owned().ok().map(File::from)
}
