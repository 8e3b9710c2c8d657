//! Reconstruction finds the generated tracks, and every build gives the same digests. One binary, so that it is linked
//! once.

mod acceptance;
mod digest;
