//! Keeps run documents, and finds them again: an SQLite file (the default), a directory of plain files, or PostgreSQL
//! behind the feature `postgres`.
//!
//! Every store is a [`Store`] and passes the same conformance tests. The document itself is what is kept; beside it
//! stand the few columns that listing, history and comparing many runs need, always derived from it.
#![forbid(unsafe_code)]

mod document;
mod error;
mod files;
mod filter;
mod index;
mod key;
mod location;
mod lock;
mod pack;
mod packed;
#[cfg(feature = "postgres")]
mod postgres;
mod select;
mod sqlite;
mod store;
mod transfer;
mod words;

pub use document::{DOCUMENT_LIMIT, load_document, parse_document, render_document, save_document};
pub use error::{Error, StoreErrorKind};
pub use files::FileStore;
pub use filter::{FigurePattern, Filter};
pub use index::{FigureRow, OutcomeKind, SessionValue, Summary};
pub use location::{Access, default_path, empty, open};
pub use lock::{Claim, Holder, MachineLock, machine_lock_path};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub use select::{Selector, StoreSelection, check_label, is_path};
pub use sqlite::SqliteStore;
pub use store::{Detail, Store};
pub use transfer::transfer;
