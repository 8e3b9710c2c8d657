//! Fits of lines and growth, and their predictions.

pub mod break_test;
pub mod exponential;
pub mod frontier;
pub mod line;
