//! Choosing and extrapolating: against exact solutions and known truths. One
//! binary, so that it is linked once.

mod choose;
mod choose_told;
mod choose_uncertain;
#[path = "../../../compare/tests/it/common/mod.rs"]
mod common;
mod trend;
