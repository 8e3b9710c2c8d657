//! Fits of lines and growth, and what they may predict.

pub mod break_test;
pub mod exponential;
pub mod frontier;
pub mod line;
