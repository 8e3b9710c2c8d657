//! Channels over loopback: authentication, limits, and tampering by a relay.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a failed step fails the test with its message"
)]

mod common;
mod relay;
mod unauthenticated;
