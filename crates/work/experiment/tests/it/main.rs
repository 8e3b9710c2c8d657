//! Experiments through the real session and the real decision, with simulated samples and on this machine.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod chosen;
mod effects;
mod simulated;
