//! Reconstruction finds what was generated, and every build gets the same digests. One binary, so that it is linked once.

mod acceptance;
mod digest;
