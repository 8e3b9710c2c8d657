//! Fits of lines and growth, and their predictions.

pub mod break_test;
pub mod exponential;
pub mod frontier;
pub mod lack_of_fit;
pub mod line;
