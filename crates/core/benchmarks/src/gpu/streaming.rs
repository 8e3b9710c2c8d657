//! Streams through the memory of a device: random inputs that the device makes and the host knows, poisoned outputs, and
//! windows of the output that the host computes.

use gpu::{Buffer, Device, Launch, kernel};

use super::device::{API, BLANK, DEVICE, THREADS, compare, open, pattern, random, reading};
use crate::prelude::*;
use crate::trials::fastest;

/// What the streams have in common.
pub(super) const STREAM: Benchmark = Benchmark {
    stresses: &[Primitive::GpuMemory],
    parameters: &[Parameter::doubling("array", 64 * KIB, 16 * GIB, &["1GiB"]), API, DEVICE],
    ..BLANK
};
pub(super) const PAPER: &str = "T. Deakin et al., IJCSE 17 (2018)";

/// Groups of threads for each unit of the device that are tried out: which is fastest differs by 2% between cards.
const CROWDS: [u32; 4] = [4, 8, 16, 32];
/// Time of one reading, seconds.
const READING: f64 = 0.004;
/// Readings of one set of inputs.
const REPEATED: usize = 3;
/// Windows of the output that the host computes, and the words of each.
const WINDOWS: u64 = 64;
const WINDOW: u64 = 8;
/// What outputs hold before.
const POISON: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// A stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Copy,
    Triad,
    Read,
    Write,
}

impl Stream {
    /// Its kernel, and its arrays of input and of output.
    const fn of(self) -> (&'static str, [u64; 2]) {
        match self {
            Self::Copy => ("copy", [1, 1]),
            Self::Triad => ("triad", [2, 1]),
            Self::Read => ("read", [1, 0]),
            Self::Write => ("write", [0, 1]),
        }
    }
}

/// The arrays of a stream.
struct Arrays {
    inputs: Vec<Buffer>,
    output: Buffer,
    words: u64,
}

/// Prepares a stream: chooses the fastest of a few numbers of groups.
pub(super) fn prepare(stream: Stream, at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let device = open(at, context)?;
    let (words, seed) = (at.bytes("array")? / 16 * 2, random(context.seed()));
    let units = device.about().units.max(1);
    let arrays = Arrays::new(stream, &device, words, units * CROWDS[CROWDS.len() - 1], seed)?;
    let known = context.variant().and_then(|name| name.split(' ').next()?.parse().ok());
    let crowd = match known {
        Some(crowd) => crowd,
        None => {
            let time = |crowd: &u32| Ok(arrays.run(stream, &device, units * crowd, 1, seed)?);
            let best = fastest(CROWDS, 4, 0.01, time)?.unwrap_or(CROWDS[0]);
            context.choose(format!("{best} groups for each unit"));
            best
        }
    };
    let blocks = units * crowd;
    let once = arrays.run(stream, &device, blocks, 1, seed)?;
    let times = (READING / once).clamp(1.0, 1000.0) as u32;
    let sums = if stream == Stream::Read { sums(words, u64::from(blocks * THREADS), seed) } else { Vec::new() };
    drop(arrays);
    let bytes = stream.of().1.iter().sum::<u64>() as f64 * words as f64 * 8.0;
    Ok(reading(&device, move |device| {
        let arrays = Arrays::new(stream, device, words, blocks, seed)?;
        let mut rates = Vec::new();
        for _ in 0..REPEATED {
            rates.push(bytes * f64::from(times) / arrays.run(stream, device, blocks, times, seed)?);
        }
        arrays.check(stream, seed, &sums)?;
        Ok(rates)
    }))
}

/// The exclusive or of what each thread of a read gets of an input: two words of every so many pairs.
fn sums(words: u64, threads: u64, seed: u64) -> Vec<u64> {
    let mut sums = vec![0; usize::try_from(threads).unwrap_or(0)];
    for at in 0..words {
        sums[(at / 2 % threads) as usize] ^= pattern(seed, at).to_bits();
    }
    sums
}

/// Launches a kernel of arrays once.
fn fill(device: &Device, name: &str, buffer: &Buffer, scalars: [u64; 2]) -> Result<(), gpu::Error> {
    let launch = Launch { kernel: kernel(name), blocks: 512, threads: 256, buffers: &[buffer], scalars: &scalars };
    device.timed(&launch, 1).map(|_| ())
}

impl Arrays {
    fn new(stream: Stream, device: &Device, words: u64, blocks: u32, seed: u64) -> Result<Self, gpu::Error> {
        let [inputs, outputs] = stream.of().1;
        let array = |words: u64| device.buffer(usize::try_from(8 * words).unwrap_or(usize::MAX));
        let inputs = (0..inputs).map(|_| array(words)).collect::<Result<Vec<_>, _>>()?;
        for (at, input) in (0..).zip(&inputs) {
            fill(device, "pattern", input, [seed + at, words])?;
        }
        // What a read leaves is a word of each thread.
        let room = if outputs == 0 { (u64::from(blocks * THREADS)).next_multiple_of(2) } else { words };
        let output = array(room)?;
        fill(device, "write", &output, [POISON, room / 2])?;
        Ok(Self { inputs, output, words })
    }

    fn run(&self, stream: Stream, device: &Device, blocks: u32, times: u32, seed: u64) -> Result<f64, gpu::Error> {
        let buffers: Vec<&Buffer> = self.inputs.iter().chain([&self.output]).collect();
        let scalars = match stream {
            Stream::Write => vec![random(seed), self.words / 2],
            _ => vec![self.words / 2],
        };
        let kernel = kernel(stream.of().0);
        device.timed(&Launch { kernel, blocks, threads: THREADS, buffers: &buffers, scalars: &scalars }, times)
    }

    /// Compares windows of the output, the first and the last among them, with what the host computes. Of a read, it
    /// compares what each thread made of all that it read.
    fn check(&self, stream: Stream, seed: u64, sums: &[u64]) -> Result<(), BenchmarkError> {
        if stream == Stream::Read {
            return compare(self.output.words(0, sums.len())?, sums.iter().copied());
        }
        let last = self.words - WINDOW;
        for window in 0..WINDOWS {
            let first = match window {
                0 => 0,
                1 => last,
                _ => random(seed ^ window) % (last + 1),
            };
            let found = self.output.words(usize::try_from(8 * first).unwrap_or(usize::MAX), WINDOW as usize)?;
            let expected = (first..first + WINDOW).map(|at| match stream {
                Stream::Triad => (pattern(seed, at) + 3.0 * pattern(seed + 1, at)).to_bits(),
                Stream::Write => random(seed),
                Stream::Copy | Stream::Read => pattern(seed, at).to_bits(),
            });
            compare(found, expected)?;
        }
        Ok(())
    }
}
