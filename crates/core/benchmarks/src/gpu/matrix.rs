//! Peak rate of the matrix units of a device.

use gpu::{Launch, kernel};

use super::device::{API, BLANK, DEVICE, THREADS, compare, open, random, reading, turns};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "gpu.matrix",
    title: "GPU matrix units",
    about: "Products of small matrices in registers (`mma.sync`) on all units, with eight independent sums in each \
            warp. A multiply-add counts two operations. Timed by the clock of the device. Chips with `wgmma` are \
            faster with that instruction. The sum over each warp's result is compared with the exact one. Not defined \
            for OpenCL, whose language has no such instruction.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "operations"),
    stresses: &[Primitive::GpuMatrix],
    parameters: &[
        Parameter::choice("type", &["bf16", "fp16", "tf32", "fp64", "int8"], &["bf16", "fp16", "tf32", "fp64", "int8"]),
        API,
        DEVICE,
    ],
    prepare,
    ..BLANK
};

/// Sums of a warp, and products for each of them in a turn.
const SUMS: u64 = 8;
const PRODUCTS: u64 = 2;
/// Columns of every product.
const COLUMNS: u64 = 8;
const WARP: usize = 32;
const CROWD: u32 = 8;
/// Time of a reading, seconds.
const READING: f64 = 0.005;
/// Most turns: beyond them sums are no longer exact in 32 bits.
const MOST: u64 = 50_000;

/// A type of elements: rows and depth of its products, registers of a lane for either matrix, and elements with their
/// pattern for one, in a register of so many bytes.
struct Elements {
    rows: u64,
    depth: u64,
    registers: [usize; 2],
    bytes: usize,
    in_register: u32,
    one: u64,
    two: u64,
}

fn elements(kind: &str) -> Elements {
    let of =
        |depth, in_register, one, two| Elements { rows: 16, depth, registers: [4, 2], bytes: 4, in_register, one, two };
    match kind {
        "bf16" => of(16, 2, 0x3f80, 0x4000),
        "fp16" => of(16, 2, 0x3c00, 0x4000),
        "tf32" => of(8, 1, 0x3f80_0000, 0x4000_0000),
        "int8" => of(32, 4, 1, 2),
        _ => Elements { rows: 8, registers: [1, 1], bytes: 8, ..of(4, 1, 1f64.to_bits(), 2f64.to_bits()) },
    }
}

impl Elements {
    /// The input of a warp: random zeros and ones, and a second matrix of ones or of twos. Returns the registers of all
    /// lanes, and the sum over the elements of their product.
    fn warp(&self, seed: u64) -> (Vec<u8>, f64) {
        let twos = seed % 2 == 1;
        let bits = 8 * self.bytes as u32 / self.in_register;
        let filled = |mask: u64, value: u64| {
            (0..self.in_register)
                .fold(0, |word, at| if mask >> at & 1 == 1 { word | value << (at * bits) } else { word })
        };
        let (mut bytes, mut ones) = (Vec::new(), 0);
        for lane in 0..WARP as u64 {
            for register in 0..self.registers[0] as u64 {
                let mask = random(seed ^ (lane << 8 | register)) & ((1 << self.in_register) - 1);
                ones += mask.count_ones();
                bytes.extend_from_slice(&filled(mask, self.one).to_le_bytes()[..self.bytes]);
            }
            let second = filled(u64::MAX, if twos { self.two } else { self.one });
            (0..self.registers[1]).for_each(|_| bytes.extend_from_slice(&second.to_le_bytes()[..self.bytes]));
        }
        (bytes, f64::from(ones) * COLUMNS as f64 * if twos { 2.0 } else { 1.0 })
    }
}

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let device = open(at, context)?;
    let kind = at.get("type").unwrap_or_default();
    let (elements, kernel) = (elements(kind), kernel(&format!("matrix_{kind}")));
    let blocks = device.about().units.max(1) * CROWD;
    let threads = (blocks * THREADS) as usize;
    let warps: Vec<_> = (0..threads / WARP).map(|warp| elements.warp(random(context.seed() ^ warp as u64))).collect();
    let input = device.buffer(warps.iter().map(|(bytes, _)| bytes.len()).sum())?;
    input.write(&warps.iter().flat_map(|(bytes, _)| bytes.iter().copied()).collect::<Vec<u8>>())?;
    let sums: Vec<f64> = warps.into_iter().map(|(_, sum)| sum).collect();
    let out = device.buffer(8 * threads)?;
    let time = |device: &gpu::Device, out: &gpu::Buffer, turns: u64| {
        device.timed(&Launch { kernel, blocks, threads: THREADS, buffers: &[&input, out], scalars: &[turns] }, 1)
    };
    let turns = turns(READING, MOST, |turns| time(&device, &out, turns))?;
    let products = (SUMS * PRODUCTS * turns) as f64;
    let each = 2.0 * (elements.rows * COLUMNS * elements.depth) as f64;
    drop(out);
    let read = move |device: &gpu::Device| {
        let out = device.poisoned(8 * threads, 0xa5)?;
        let launch = Launch { kernel, blocks, threads: THREADS, buffers: &[&input, &out], scalars: &[turns] };
        let seconds = device.timed(&launch, 1)?;
        let found = out.words(0, threads)?;
        let found = found.chunks(WARP).map(|warp| warp.iter().map(|word| f64::from_bits(*word)).sum::<f64>());
        compare(found, sums.iter().map(|sum| sum * products))?;
        Ok(vec![products * each * (threads / WARP) as f64 / seconds])
    };
    Ok(reading(&device, read))
}
