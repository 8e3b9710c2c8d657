//! Results that Prony did not measure: published evaluations and the outputs of other tools, as run documents.
//!
//! A foreign result gets one of Prony's ids only if its definition is the same; otherwise it keeps the tool's name as
//! `tool.name`. Its spread is the one that the source states, or none.
#![forbid(unsafe_code)]

mod assemble;
mod data;
mod date;
mod differing;
mod digest;
mod embedded;
mod error;
mod facts;
mod format;
mod import;
mod json;
mod logged;
pub mod published;
mod rows;
mod sheet;
mod tagged;
mod text;
mod units;
mod unread;
mod unread_members;

pub use error::{Error, SourcePosition};
pub use format::ImportFormat;
pub use import::{ImportOptions, ImportedSource, detect, formats, import};
pub use text::LONGEST;
pub use unread::{NumberPlace, UnreadNumbers};
