//! What figures of whole small programs have in common: so many runs, and a sum that only those runs leave behind.

use crate::prelude::*;

/// A program and what it must return, both by the number of runs.
pub(super) struct Repeating {
    pub(super) run: fn(u64) -> u64,
    pub(super) expected: fn(u64) -> u64,
    /// What one run counts for.
    pub(super) amount: f64,
}

impl Repeating {
    pub(super) fn trial(self) -> Result<Trial, Unsupported> {
        Ok(Trial::one(self))
    }
}

impl Kernel for Repeating {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        Ok(BatchWork { ops, token: (self.run)(ops) })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        ProbeError::unless_equal(done.token, (self.expected)(done.ops))
    }

    fn amount(&self) -> f64 {
        self.amount
    }
}
