//! Fits of lines, growth and plateaus, and what they may predict.

pub mod break_test;
pub mod exponential;
pub mod frontier;
pub mod line;
pub mod plateau;
