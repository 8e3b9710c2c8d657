//! Documents and stores: saving, reading of all older versions, and clear errors. One binary, so that it is linked
//! once.

mod common;
mod conformance;
mod document;
mod lock;
#[cfg(feature = "postgres")]
mod postgres;
mod schema;
mod trouble;
mod upgrade;
