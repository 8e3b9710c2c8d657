//! What can go wrong between a run and the place where it is kept: every text says what, where and what to do.

use std::fmt;
use std::io;
use std::path::Path;

use crate::words::one_line;

/// Why a place could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// No space is left, or a limit on the size of files was reached.
    Full,
    /// The file or its file system is read-only.
    ReadOnly,
    /// This user has not the permission.
    Permission,
    /// Another program holds it.
    Locked,
    /// It is a directory where a file should be.
    Directory,
    /// A part of the path is no directory.
    NotADirectory,
    /// It does not exist.
    Missing,
    /// What it holds is damaged: how.
    Corrupt(String),
    /// It belongs to another program: how that shows.
    Foreign(String),
    /// Anything else, in the words of the system.
    Other(String),
}

impl StoreErrorKind {
    /// The trouble behind an error of the operating system.
    #[must_use]
    pub fn of_io(error: &io::Error) -> Self {
        use io::ErrorKind as Is;
        match error.kind() {
            Is::StorageFull | Is::QuotaExceeded | Is::FileTooLarge => Self::Full,
            Is::ReadOnlyFilesystem => Self::ReadOnly,
            Is::PermissionDenied => Self::Permission,
            Is::WouldBlock | Is::ResourceBusy => Self::Locked,
            Is::IsADirectory => Self::Directory,
            Is::NotADirectory => Self::NotADirectory,
            Is::NotFound => Self::Missing,
            _ => Self::Other(error.to_string()),
        }
    }
}

impl fmt::Display for StoreErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("no space is left there; free some, or name another place"),
            Self::ReadOnly => f.write_str("it is read-only; make it writable, or name another place"),
            Self::Permission => f.write_str("this user has no permission; change that, or name another place"),
            Self::Locked => {
                f.write_str("another program keeps it locked; wait until that has ended, or name another place")
            }
            Self::Directory => f.write_str("it is a directory; name a file"),
            Self::NotADirectory => f.write_str("a part of its path is a file, not a directory; mend the path"),
            Self::Missing => f.write_str("there is nothing of that name; mend the path"),
            Self::Corrupt(how) => {
                write!(f, "it is damaged ({}); restore it from a copy, or move it away and begin anew", one_line(how))
            }
            Self::Foreign(how) => write!(f, "it is not Prony's ({}); name another place", one_line(how)),
            Self::Other(words) => write!(f, "{}; mend that, or name another place", one_line(words)),
        }
    }
}

/// Why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No directory for the user's data.
    #[error(
        "could not find a place for the store: neither XDG_DATA_HOME nor HOME names an absolute directory; name a file with --store PATH"
    )]
    NoHome,
    /// A place could not be read or written.
    #[error("could not {action} {}: {trouble}", one_line(place))]
    Place {
        /// What was to be done, such as `save the run in`.
        action: &'static str,
        /// Path or address.
        place: String,
        /// Why not.
        trouble: StoreErrorKind,
    },
    /// The store was written by a newer program.
    #[error(
        "could not open the store {}: its form is {found} and this program knows forms 1 to {known}; update prony, or name another store",
        one_line(place)
    )]
    NewerStore {
        /// Path or address.
        place: String,
        /// Form of the store.
        found: i64,
        /// Newest form known here.
        known: i64,
    },
    /// A run document could not be read or written.
    #[error("{} (in {})", one_line(&source.to_string()), one_line(place))]
    Document {
        /// Path, or the store and the run in it.
        place: String,
        /// What is wrong with it, and where.
        source: model::Error,
    },
    /// A document is larger than any run.
    #[error(
        "could not read the run document {}: it is larger than {} MiB; name a run document",
        one_line(place),
        limit >> 20
    )]
    TooLarge {
        /// Path.
        place: String,
        /// Most bytes that are read.
        limit: u64,
    },
    /// A document holds a number that JSON cannot, or contradicts itself.
    #[error("could not save run {}: it would not read back: {}", one_line(id), one_line(&source.to_string()))]
    Unsavable {
        /// Id of the run.
        id: String,
        /// What is wrong with it.
        source: model::Error,
    },
    /// No run of that name.
    #[error("could not find run '{}' in {}{}", one_line(text), one_line(place), nearest_words(nearest))]
    Unknown {
        /// What was asked for.
        text: String,
        /// The store.
        place: String,
        /// Names much like it, best first.
        nearest: Vec<String>,
    },
    /// Several runs begin like that.
    #[error("could not tell which run '{}' is: {}; write more of the id, or the number", one_line(text), candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        text: String,
        /// `number (id, label)` of each run that it may be.
        candidates: Vec<String>,
    },
    /// `latest-N` reaches behind the first run.
    #[error("could not find run '{text}' in {}: it holds {} runs; `prony runs` lists them", one_line(place), count)]
    NotThatMany {
        /// What was asked for.
        text: String,
        /// The store.
        place: String,
        /// Runs that it holds.
        count: usize,
    },
    /// A label that would be taken for something else.
    #[error("could not use '{}' as a label: {reason}", one_line(label))]
    Label {
        /// The label.
        label: String,
        /// Why not.
        reason: &'static str,
    },
    /// A moment that is none.
    #[error("could not read '{}' as a moment: write a date such as 2026-11-21, or RFC 3339", one_line(.0))]
    Moment(String),
    /// A kind of store that this program was built without.
    #[error("could not open {}: this prony was built without PostgreSQL; build it with --features postgres", one_line(.0))]
    NoPostgres(String),
}

impl Error {
    /// An error of the operating system at a path.
    pub(crate) fn io(action: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::Place { action, place: path.display().to_string(), trouble: StoreErrorKind::of_io(error) }
    }

    /// Whether the place does not exist, as a store before the first run.
    #[must_use]
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Place { trouble: StoreErrorKind::Missing, .. })
    }
}

fn nearest_words(nearest: &[String]) -> String {
    match nearest {
        [] => "; `prony runs` lists what it holds".to_owned(),
        names => {
            format!("; did you mean {}?", names.iter().map(|name| one_line(name)).collect::<Vec<_>>().join(" or "))
        }
    }
}
