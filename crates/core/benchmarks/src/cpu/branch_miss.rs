//! Cost of one mispredicted branch.

use kernels::branch::{count_odd, expected};

use crate::prelude::*;

/// More branches than predictors remember.
const BYTES: u64 = MIB;
/// Each batch walks the next piece, so that a branch repeats as late as in whole passes, and a batch is short enough to
/// be clean on a shared core.
const PIECE: u64 = 64 * KIB;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.branch_miss",
    title: "branch misprediction",
    about: "Walks a million random bytes and branches on their lowest bit. The same walk over the same bytes in \
            sorted order is subtracted. Half of the random branches are mispredicted, because nothing predicts them, \
            and hardly any of the sorted ones. The difference is divided by half the number of bytes.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "mispredicted branch"),
    stresses: &[Primitive::Branch, Primitive::CoreClock],
    paired: true,
    prepare: |_, context| {
        let mut state = context.seed();
        let random: Vec<u8> = (0..BYTES / 8).flat_map(|_| split_mix(&mut state).to_le_bytes()).collect();
        let sorted = sorted(&random);
        Ok(Trial::paired(Branches::over(random), Branches::over(sorted)))
    },
    ..Benchmark::BLANK
};

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The bytes in order, by counting: a tenth of the time of comparing, in every sample.
fn sorted(bytes: &[u8]) -> Vec<u8> {
    let mut counts = [0; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    (0..=u8::MAX).zip(counts).flat_map(|(byte, count)| std::iter::repeat_n(byte, count)).collect()
}

struct Branches {
    bytes: Vec<u8>,
    /// Number of odd bytes in each piece, counted without a branch.
    odd: Vec<u64>,
    /// Pieces from which the last batch and the next one begin.
    began: usize,
    next: usize,
}

impl Branches {
    fn over(bytes: Vec<u8>) -> Self {
        let odd = bytes.chunks(PIECE as usize).map(|piece| expected(piece, 1)).collect();
        Self { bytes, odd, began: 0, next: 0 }
    }
}

impl Kernel for Branches {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.next;
        let mut token = 0;
        for _ in 0..ops / PIECE {
            let begin = self.next * PIECE as usize;
            token += count_odd(&self.bytes[begin..begin + PIECE as usize], 1);
            self.next = (self.next + 1) % self.odd.len();
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let walked = self.odd.iter().cycle().skip(self.began).take((done.ops / PIECE) as usize);
        BenchmarkError::unless_equal(done.token, walked.sum())
    }

    fn amount(&self) -> f64 {
        0.5
    }

    fn granule(&self) -> u64 {
        PIECE
    }

    fn declared(&self) -> Option<DeclaredCost> {
        Some(DeclaredCost { bytes_read: 1.0, bytes_written: 0.0, operations: 1.0 })
    }
}
