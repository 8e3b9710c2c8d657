//! Atomic additions of a device.

use gpu::{Launch, kernel};

use super::device::{API, BLANK, DEVICE, THREADS, compare, open, reading, turns};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.atomic",
    title: "GPU atomic additions",
    about: "All threads add 1 to one word of memory, or each thread to a word of its own. Timed by the clock of the \
            device. Every word is compared with the number of additions.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "additions"),
    stresses: &[Primitive::GpuAtomic],
    parameters: &[Parameter::choice("words", &["one", "own"], &["one", "own"]), API, DEVICE],
    prepare,
    ..BLANK
};

const CROWD: u32 = 4;
/// Time of a reading, seconds, and most additions of a thread: a word of 32 bits holds those of all.
const READING: f64 = 0.005;
const MOST: u64 = 4096;
/// What the bytes of the words hold before.
const BEFORE: u8 = 0x11;

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let device = open(at, context)?;
    let blocks = device.about().units.max(1) * CROWD;
    let threads = u64::from(blocks * THREADS);
    let own = at.get("words") == Some("own");
    let (mask, words) = if own { (u64::MAX >> 1, threads) } else { (0, 2) };
    let run = move |device: &gpu::Device, turns: u64| {
        let buffer = device.poisoned(4 * words as usize, BEFORE)?;
        let launch =
            Launch { kernel: kernel("atomic"), blocks, threads: THREADS, buffers: &[&buffer], scalars: &[turns, mask] };
        Ok((device.timed(&launch, 1)?, buffer))
    };
    let turns = turns(READING, MOST, |turns| run(&device, turns).map(|(seconds, _)| seconds))?;
    Ok(reading(&device, move |device| {
        let (seconds, buffer) = run(device, turns)?;
        let found =
            buffer.words(0, words as usize / 2)?.into_iter().flat_map(|word| [word as u32, (word >> 32) as u32]);
        let before = u32::from_le_bytes([BEFORE; 4]);
        let added = if own { turns } else { turns * threads } as u32;
        let after = |at: u64| if own || at == 0 { before.wrapping_add(added) } else { before };
        compare(found, (0..words).map(after))?;
        Ok(vec![(threads * turns) as f64 / seconds])
    }))
}
