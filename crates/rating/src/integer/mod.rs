//! The components of `int-1`.

pub(crate) mod chess;
pub(crate) mod compress;
pub(crate) mod database;
pub(crate) mod graph;
pub(crate) mod interpreter;
pub(crate) mod json;
pub(crate) mod search;
pub(crate) mod sort;
