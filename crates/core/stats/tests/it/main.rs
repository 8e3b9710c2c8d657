//! Promises of the statistics: on recorded samples of real machines, against known truths, and on published data. One
//! binary, so that it is linked once.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a recorded file that does not parse must fail the test, and measured numbers are printed"
)]

mod correlated;
mod coverage;
mod equivalence;
mod false_claims;
mod flags;
mod invariants;
mod modes;
mod persistence;
mod placements;
mod power;
mod prediction;
mod published_data;
mod recordings;
mod recordings_spaced;
mod session;
mod session_noise;

/// Numbers of samples at which a result is judged by default.
const CHECKPOINTS: [usize; model::CHECKPOINTS.len()] = {
    let mut checkpoints = [0; model::CHECKPOINTS.len()];
    let mut at = 0;
    while at < checkpoints.len() {
        checkpoints[at] = model::CHECKPOINTS[at] as usize;
        at += 1;
    }
    checkpoints
};
