//! What `check` says of machines whose state is known.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod fleet;
mod healthy;
mod made;
mod planted;
mod public;
mod schema;
