//! Chains of fused multiply-adds on all units of a device, and their check.

use gpu::{Buffer, Device, Launch, kernel};

use super::device::{THREADS, compare, turns};
use crate::prelude::*;

/// Chains of a thread, and steps of each in a turn.
const CHAINS: u64 = 8;
const STEPS: u64 = 32;
/// Most turns: beyond them sums are no longer exact in 32 bits.
const MOST: u64 = 100_000;

/// Multiply-adds of one type.
pub(super) struct Fused {
    kernel: &'static gpu::Kernel,
    blocks: u32,
    turns: u64,
    /// The factor and the summand. Sums of 16 bits would soon be inexact: there the factor turns the sign.
    by: [i64; 2],
    lanes: f64,
    out: Buffer,
}

impl Fused {
    /// Chains of `type` on `crowd` groups of each unit, for about `seconds`.
    pub(super) fn new(kind: &str, device: &Device, crowd: u32, seconds: f64, seed: u64) -> Result<Self, Unsupported> {
        let short = kind == "fp16";
        let kernel = kernel(match kind {
            "fp64" => "fma64",
            "fp16" => "fma16",
            _ => "fma32",
        });
        let blocks = device.about().units.max(1) * crowd;
        let by = [if short { -1 } else { 1 }, (seed % 3 + 1) as i64];
        let out = device.buffer(64 * (blocks * THREADS) as usize)?;
        let mut made = Self { kernel, blocks, turns: 1, by, lanes: if short { 2.0 } else { 1.0 }, out };
        made.turns = turns(seconds, MOST, |turns| device.timed(&made.launch(&[&made.out], &made.scalars(turns)), 1))?;
        Ok(made)
    }

    fn scalars(&self, turns: u64) -> [u64; 3] {
        [self.by[0] as u64, self.by[1] as u64, turns]
    }

    fn launch<'a>(&self, buffers: &'a [&'a Buffer], scalars: &'a [u64]) -> Launch<'a> {
        Launch { kernel: self.kernel, blocks: self.blocks, threads: THREADS, buffers, scalars }
    }

    /// Operations of a launch, two for each multiply-add.
    pub(super) fn operations(&self) -> f64 {
        let each = (CHAINS * STEPS * self.turns) as f64 * 2.0 * self.lanes;
        f64::from(self.blocks) * f64::from(THREADS) * each
    }

    /// Poisons the results of earlier launches.
    pub(super) fn poison(&self) -> Result<(), BenchmarkError> {
        Ok(self.out.write(&vec![0xa5; 64 * (self.blocks * THREADS) as usize])?)
    }

    /// Seconds of a launch.
    pub(super) fn time(&self, device: &Device) -> Result<f64, BenchmarkError> {
        Ok(device.timed(&self.launch(&[&self.out], &self.scalars(self.turns)), 1)?)
    }

    /// The launch as work beside other work.
    pub(super) fn work(&self, times: u32) -> Result<gpu::Work<'static>, BenchmarkError> {
        Ok(self.launch(&[&self.out], &self.scalars(self.turns)).work(times)?)
    }

    /// Compares every chain of every thread with its exact end.
    pub(super) fn check(&self) -> Result<(), BenchmarkError> {
        let threads = u64::from(self.blocks * THREADS);
        let found = self.out.words(0, (CHAINS * threads) as usize)?.into_iter().map(f64::from_bits);
        let gained = if self.by[0] == 1 { self.by[1] as f64 * (STEPS * self.turns) as f64 } else { 0.0 };
        let chain = |at: u64| (at / CHAINS % 16 + at % CHAINS) as f64 + gained;
        compare(found, (0..CHAINS * threads).map(chain))
    }
}
