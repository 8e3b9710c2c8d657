//! Errors of reading and storing runs. Every text says what failed, where, and what to do.

use std::fmt;
use std::io;
use std::path::Path;

use crate::words::one_line;

/// Why a file or database could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The disk is full, or a limit on file sizes was reached.
    Full,
    /// The file or its file system is read-only.
    ReadOnly,
    /// This user has no permission.
    Permission,
    /// Another program has locked it.
    Locked,
    /// It is a directory where a file is needed.
    Directory,
    /// A part of the path is not a directory.
    NotADirectory,
    /// It does not exist.
    Missing,
    /// Its content is damaged; the text says how.
    Corrupt(String),
    /// It belongs to another program; the text says how this was found.
    Foreign(String),
    /// Any other error, in the system's words.
    Other(String),
}

impl StoreErrorKind {
    /// The kind of an I/O error.
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
                f.write_str("another program has locked it; wait until that program has ended, or name another place")
            }
            Self::Directory => f.write_str("it is a directory; name a file"),
            Self::NotADirectory => f.write_str("a part of its path is a file, not a directory; correct the path"),
            Self::Missing => f.write_str("it does not exist; correct the path"),
            Self::Corrupt(how) => {
                write!(
                    f,
                    "it is damaged ({}); restore it from a copy, or move it away and start a new one",
                    one_line(how)
                )
            }
            Self::Foreign(how) => write!(f, "it is not Prony's ({}); name another place", one_line(how)),
            Self::Other(words) => write!(f, "{}; fix that, or name another place", one_line(words)),
        }
    }
}

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither environment variable names a directory for the user's data.
    #[error(
        "could not find a place for the store: neither XDG_DATA_HOME nor HOME is an absolute directory; name a file \
         with --store PATH"
    )]
    NoHome,
    /// A file or database could not be read or written.
    #[error("could not {action} {}: {trouble}", one_line(place))]
    Place {
        /// The attempted action, such as `save the run in`.
        action: &'static str,
        /// Path or address.
        place: String,
        /// The cause.
        trouble: StoreErrorKind,
    },
    /// The store has another version.
    #[error(
        "could not open the store {}: it has version {found}, not {known}; use the prony that wrote it, or name \
         another store",
        one_line(place)
    )]
    StoreVersion {
        /// Path or address.
        place: String,
        /// Version of the store.
        found: i64,
        /// The version that this program reads.
        known: i64,
    },
    /// A run document could not be read or written.
    #[error("{} (in {})", one_line(&source.to_string()), one_line(place))]
    Document {
        /// Path, or the store and the run in it.
        place: String,
        /// The error, and its position.
        source: model::Error,
    },
    /// A document is larger than the limit.
    #[error(
        "could not read the run document {}: it is larger than {} MiB; name a run document",
        one_line(place),
        limit >> 20
    )]
    TooLarge {
        /// Path.
        place: String,
        /// The limit, bytes.
        limit: u64,
    },
    /// A document holds a number that JSON cannot, or contradicts itself.
    #[error("could not save run {}: it could not be read back: {}", one_line(id), one_line(&source.to_string()))]
    Unsavable {
        /// Id of the run.
        id: String,
        /// The error.
        source: model::Error,
    },
    /// No run matches the name.
    #[error("could not find run '{}' in {}{}", one_line(text), one_line(place), nearest_words(nearest))]
    Unknown {
        /// The name that was asked for.
        text: String,
        /// The store.
        place: String,
        /// Similar names, best first.
        nearest: Vec<String>,
    },
    /// Several runs have ids that begin like this.
    #[error("could not choose a run for '{}': it matches {}; write more of the id, or the number", one_line(text), candidates.join(", "))]
    Ambiguous {
        /// The text that was asked for.
        text: String,
        /// `number (id, label)` of each matching run.
        candidates: Vec<String>,
    },
    /// `previous` or `latest-N` goes back beyond the first run.
    #[error("could not find run '{text}' in {}: it holds {count} run{}; `prony runs` lists them", one_line(place), if *count == 1 { "" } else { "s" })]
    NotThatMany {
        /// The text that was asked for.
        text: String,
        /// The store.
        place: String,
        /// Number of runs in it.
        count: usize,
    },
    /// A label that a selector would read as something else.
    #[error("could not use '{}' as a label: {reason}", one_line(label))]
    Label {
        /// The label.
        label: String,
        /// The cause.
        reason: &'static str,
    },
    /// A date that cannot be ordered.
    #[error("could not read '{}' as a date; it is one such as 2026-11-22 or 2026-11-22T09:20:00Z", one_line(text))]
    Date {
        /// The beginning of the text.
        text: String,
    },
    /// A kind of store that this program was built without.
    #[error("could not open {}: this prony was built without PostgreSQL; build it with --features postgres", one_line(.0))]
    NoPostgres(String),
}

impl Error {
    /// An I/O error at a path.
    pub(crate) fn io(action: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::Place { action, place: path.display().to_string(), trouble: StoreErrorKind::of_io(error) }
    }

    /// Whether there was no space.
    pub(crate) const fn is_full(&self) -> bool {
        matches!(self, Self::Place { trouble: StoreErrorKind::Full, .. })
    }

    /// Whether the store does not exist, as before the first run.
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
