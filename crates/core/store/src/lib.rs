//! Stores run documents and finds them again: in an SQLite file (the default) or PostgreSQL (feature `postgres`).
//!
//! Every store is a [`Store`] and passes the same conformance tests. It stores documents. The few extra columns for
//! lists and histories are always derived from them.
#![forbid(unsafe_code)]

mod access;
mod document;
mod error;
mod index;
mod key;
mod location;
mod lock;
mod pack;
mod packed;
#[cfg(feature = "postgres")]
mod postgres;
mod select;
mod site;
mod sqlite;
mod store;
mod words;

pub use access::Access;
pub use document::{
    DOCUMENT_LIMIT, check_destination, decompressed, load_document, pack_document, parse_document, render_document,
    save_document, write_file,
};
pub use error::{Error, StoreErrorKind};
pub use index::{SessionValue, Summary};
pub use location::{default_path, empty, open};
pub use lock::{Claim, Holder, MachineLock, machine_lock_path};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub use select::{Selector, check_date, check_label, is_path};
pub use site::{EnvironmentChange, MachineSummary, RunFilter};
pub use sqlite::SqliteStore;
pub use store::{Detail, Store};
