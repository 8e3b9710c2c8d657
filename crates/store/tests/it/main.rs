//! Documents and stores: kept, read for ever, and honest in trouble. One binary, so that it is linked once.

mod common;
mod conformance;
mod document;
mod lock;
#[cfg(feature = "postgres")]
mod postgres;
mod schema;
mod trouble;
mod upgrade;
