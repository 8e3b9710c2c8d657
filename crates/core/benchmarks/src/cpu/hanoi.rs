//! The tower of Hanoi by recursion.

use kernels::hanoi::{Pegs, expected, solve};

use super::repeating::Repeating;
use crate::prelude::*;

const DISCS: u32 = 10;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.hanoi",
    title: "tower of Hanoi, 10 discs",
    about: "Moves a tower of 10 discs back and forth by recursion: 1023 moves and 1534 calls each time. There is \
            little other work, so calls and returns decide.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "towers"),
    stresses: &[Primitive::CoreClock, Primitive::IntegerAlu, Primitive::Branch],
    sources: &[
        DefinitionSource::new("BYTE", "recursion test", "BYTE magazine's Unix benchmarks, version 3, 1991")
            .near("written in Rust"),
        DefinitionSource::new("CyberLife", "Recursion Test", "CyberLife Labs notes, 2004").near("written in Rust"),
    ],
    prepare: |_, _| Repeating { run: towers, expected: last, amount: 1.0 }.trial(),
    ..Benchmark::BLANK
};

fn towers(times: u64) -> u64 {
    let mut moves = 0;
    let pegs = solve(DISCS, std::hint::black_box(times), &mut moves);
    sum(pegs, moves)
}

fn last(times: u64) -> u64 {
    let (pegs, moves) = expected(DISCS, times);
    sum(pegs, moves)
}

/// The positions of the discs and the number of moves, in one number.
fn sum([first, second, third]: Pegs, moves: u64) -> u64 {
    [first, second, third].iter().fold(moves, |sum, discs| sum.wrapping_mul(61).wrapping_add(discs.cast_unsigned()))
}
