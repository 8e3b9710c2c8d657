//! Peak rate of dot products of bytes, in vectors or on matrices.

use super::counting;
use crate::prelude::*;

/// The instruction sets that multiply tiles of matrices.
const MATRIX: [&str; 1] = ["amx"];

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.int8_dot",
    title: "8-bit dot product",
    about: "Dot products of bytes with sums of 32 bits, in independent chains, as in inference with quantised \
            weights. They use vector instructions, or instructions that multiply tiles of matrices. Each product and \
            each sum counts one operation. Trials choose the fastest instruction set of this CPU and name it. With \
            `threads=all` every CPU works and the rates are added.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "8-bit operations"),
    stresses: &[Primitive::IntMatrix, Primitive::CoreClock],
    parameters: &[Parameter::choice("unit", &["vector", "matrix"], &["vector"]), Parameter::threads(&["1"])],
    parties: Parties::Threads,
    batch: counting::PEAK,
    prepare: |at, context| {
        let matrix = at.choice("unit")? == "matrix";
        let wanted: fn(&kernels::counted::CountedLoop) -> bool =
            if matrix { |one| MATRIX.contains(&one.isa) } else { |one| !MATRIX.contains(&one.isa) };
        counting::fastest("int8_dot", wanted, |one| one.iteration.ops, context)
    },
    ..Benchmark::BLANK
};
