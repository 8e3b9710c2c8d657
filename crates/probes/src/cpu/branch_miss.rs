//! Cost of one mispredicted branch.

use sys::kernel::branch::{count_odd, expected};

use crate::prelude::*;

/// More branches than predictors remember.
const BYTES: u64 = MIB;

pub(super) static PROBE: Probe = Probe {
    id: "cpu.branch_miss",
    title: "branch misprediction",
    about: "Walks a million random bytes and branches on their lowest bit, paired with the same walk over the same bytes in sorted order. Half of the random branches are mispredicted, because nothing predicts them, and hardly any of the sorted ones: the difference is divided by half the number of bytes.",
    metric: ProbeMetric::lower(Unit::Seconds, "mispredicted branch"),
    stresses: &[Primitive::CoreClock, Primitive::Branch],
    paired: true,
    prepare: |_, context| {
        let mut state = context.seed();
        let random: Vec<u8> = (0..BYTES / 8).flat_map(|_| split_mix(&mut state).to_le_bytes()).collect();
        let mut sorted = random.clone();
        sorted.sort_unstable();
        Ok(Trial::paired(Branches::over(random), Branches::over(sorted)))
    },
    ..Probe::BLANK
};

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

struct Branches {
    bytes: Vec<u8>,
    /// Odd bytes, counted without a branch.
    odd: u64,
}

impl Branches {
    fn over(bytes: Vec<u8>) -> Self {
        let odd = expected(&bytes, 1);
        Self { bytes, odd }
    }
}

impl Kernel for Branches {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        let passes = ops / BYTES;
        Ok(BatchWork { ops: passes * BYTES, token: count_odd(&self.bytes, passes) })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        ProbeError::unless_equal(done.token, done.ops / BYTES * self.odd)
    }

    fn amount(&self) -> f64 {
        0.5
    }

    fn granule(&self) -> u64 {
        BYTES
    }

    fn declared(&self) -> Option<DeclaredCost> {
        Some(DeclaredCost { bytes_read: 1.0, bytes_written: 0.0, operations: 1.0 })
    }
}
