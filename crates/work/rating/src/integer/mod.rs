//! The components of `int-1`.

pub(crate) mod compress;
pub(crate) mod database;
pub(crate) mod json;
pub(crate) mod search;
pub(crate) mod sort;
