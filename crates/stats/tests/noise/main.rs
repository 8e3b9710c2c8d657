//! What the statistics promise, proved on recorded launches of real machines.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a recorded file that does not parse must fail the test, and measured numbers are printed"
)]

mod coverage;
mod false_claims;
mod placements;
mod power;
mod session;
