//! The ledger given by the user: a file of one coordinator, or a database of several.

use std::path::{Path, PathBuf};

use ::farm::{Farm, Ledger, SqliteLedger};
use anyhow::Result;

#[cfg(feature = "postgres")]
use crate::output;

/// The location of a ledger.
#[derive(Debug, Clone)]
pub(super) enum LedgerLocation {
    /// A file.
    File(PathBuf),
    /// A database at an address that may contain a password, and the run in it, if one is named.
    Database {
        address: String,
        #[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "nothing can be opened without the feature"))]
        farm: Option<String>,
    },
}

/// The ledger of a new run.
pub(super) struct Entered {
    pub(super) book: LedgerLocation,
    pub(super) ledger: Box<dyn Ledger>,
    pub(super) farm: Farm,
}

impl LedgerLocation {
    /// Parses the user's text. `farm` is the name of a run in a database.
    pub(super) fn named(text: &Path, farm: Option<&str>) -> Result<Self> {
        let words = text.to_string_lossy();
        if words.starts_with("postgres://") || words.starts_with("postgresql://") {
            return Ok(Self::Database { address: words.into_owned(), farm: farm.map(str::to_owned) });
        }
        if farm.is_some() {
            anyhow::bail!("could not use --farm: a ledger in a file has one run");
        }
        Ok(Self::File(text.to_owned()))
    }

    /// Whether several coordinators may use it.
    pub(super) const fn is_shared(&self) -> bool {
        matches!(self, Self::Database { .. })
    }

    /// Enters a new run, or in a database joins the equal run that others have entered.
    pub(super) fn enter(self, farm: Farm) -> Result<Entered> {
        match self {
            Self::File(path) => {
                let ledger = Box::new(SqliteLedger::create(&path, &farm)?);
                Ok(Entered { book: Self::File(path), ledger, farm })
            }
            Self::Database { address, .. } => enter(address, &farm),
        }
    }

    /// A ledger for resuming.
    pub(super) fn open(&self) -> Result<Box<dyn Ledger>> {
        match self {
            Self::File(path) => Ok(Box::new(SqliteLedger::open(path)?)),
            Self::Database { address, farm } => open(address, farm.as_deref(), true),
        }
    }

    /// A ledger for reading.
    pub(super) fn read(&self) -> Result<Box<dyn Ledger>> {
        match self {
            Self::File(path) => Ok(Box::new(SqliteLedger::read(path)?)),
            Self::Database { address, farm } => open(address, farm.as_deref(), false),
        }
    }

    /// Its location, without password.
    pub(super) fn place(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Database { address, .. } => model::without_password(address),
        }
    }

    /// The command that resumes a run.
    pub(super) fn resume(&self, id: &str) -> String {
        match self {
            Self::File(path) => format!("prony farm resume {}", path.display()),
            Self::Database { .. } => format!("prony farm resume {} --farm {id}", self.place()),
        }
    }

    /// The directory whose file system affects the writes.
    pub(super) fn directory(&self) -> PathBuf {
        match self {
            Self::File(path) => path.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_path_buf),
            Self::Database { .. } => None,
        }
        .unwrap_or_else(|| PathBuf::from("."))
    }
}

#[cfg(feature = "postgres")]
fn enter(address: String, farm: &Farm) -> Result<Entered> {
    let (ledger, joined) = ::farm::PostgresLedger::enter(&address, farm)?;
    let farm = ledger.farm()?;
    if joined {
        output::remark(&format!("the run {} there is the same and not finished: this coordinator shares it", farm.id));
    }
    if let Some(doubt) = ledger.doubt()? {
        output::remark(&format!("the server of the ledger has {doubt}"));
    }
    let book = LedgerLocation::Database { address, farm: Some(farm.id.clone()) };
    Ok(Entered { book, ledger: Box::new(ledger), farm })
}

#[cfg(feature = "postgres")]
fn open(address: &str, farm: Option<&str>, write: bool) -> Result<Box<dyn Ledger>> {
    use ::farm::PostgresLedger;
    let ledger = if write { PostgresLedger::open(address, farm) } else { PostgresLedger::read(address, farm) };
    Ok(Box::new(ledger?))
}

#[cfg(not(feature = "postgres"))]
fn enter(address: String, _: &Farm) -> Result<Entered> {
    Err(absent(&address))
}

#[cfg(not(feature = "postgres"))]
fn open(address: &str, _: Option<&str>, _: bool) -> Result<Box<dyn Ledger>> {
    Err(absent(address))
}

#[cfg(not(feature = "postgres"))]
fn absent(address: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "could not open the ledger {}: this program was built without PostgreSQL; build it with --features postgres, or \
         name a file",
        model::without_password(address)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_a_database_are_told_apart() {
        let book = LedgerLocation::named(Path::new("postgres://me:secret@host/base"), Some("x")).unwrap();
        assert_eq!(book.resume("x"), "prony farm resume postgres://me@host/base --farm x");
        assert!(book.is_shared());
        assert_eq!(LedgerLocation::named(Path::new("dir/file"), None).unwrap().directory(), Path::new("dir"));
        assert!(LedgerLocation::named(Path::new("file"), Some("x")).is_err());
    }
}
