//! Predicting: against published tables and known truths. One
//! binary, so that it is linked once.

#[path = "../../../compare/tests/it/common/mod.rs"]
mod common;
mod predict;
mod predict_machines;
mod predict_public;
