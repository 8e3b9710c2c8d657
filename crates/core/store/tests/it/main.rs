//! Documents and stores: saving, reading, and clear errors. One binary, so that it is linked once.

mod common;
mod conformance;
mod disk;
mod document;
mod lock;
#[cfg(feature = "postgres")]
mod postgres;
mod schema;
#[cfg(feature = "postgres")]
mod tls;
mod trouble;
