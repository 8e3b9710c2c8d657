//! Channels over loopback: who gets in, who does not, and what a relay in between can do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test that cannot go on fails, and says what it saw"
)]

mod common;
mod relay;
mod strangers;
