//! Common parts of the results of small programs: a number of runs, and a checksum that only those runs produce.

use crate::prelude::*;

/// A program and its expected result, both as functions of the number of runs.
pub(super) struct Repeating {
    pub(super) run: fn(u64) -> u64,
    pub(super) expected: fn(u64) -> u64,
    /// Count of one run.
    pub(super) amount: f64,
}

impl Repeating {
    pub(super) fn trial(self) -> Result<Trial, Unsupported> {
        Ok(Trial::one(self))
    }
}

impl Kernel for Repeating {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        Ok(BatchWork { ops, token: (self.run)(ops) })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, (self.expected)(done.ops))
    }

    fn amount(&self) -> f64 {
        self.amount
    }
}
