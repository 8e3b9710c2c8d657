//! Dhrystone 2.1.

use kernels::dhrystone::Dhrystone;

use super::repeating::Repeating;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.dhrystone",
    title: "Dhrystone",
    about: "Runs a program with the statement mix of Dhrystone 2.1, rewritten in Rust with its checks of array \
            bounds. It calls procedures that are never inlined, assigns numbers, records and strings, and compares. \
            BYTE has two results, with and without register variables. Compilers now choose registers themselves, so \
            both are this result.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "Dhrystones"),
    stresses: &[Primitive::CoreClock, Primitive::IntegerAlu, Primitive::Branch, Primitive::L1],
    key: &[(21, "one core, Dhrystone", "")],
    sources: &[
        DefinitionSource::new(
            "Dhrystone",
            "dhrystones a second",
            "R. P. Weicker, CACM 27(10), 1984; SIGPLAN Notices 23(8), 1988",
        )
        .near(RUST),
        DefinitionSource::new("BYTE", "Dhrystone 2", "BYTE magazine's Unix benchmarks, version 3, 1991").near(RUST),
        DefinitionSource::new("CyberLife", "Dhrystone 2", "CyberLife Labs notes, 2004").near(RUST),
    ],
    prepare: |_, _| Repeating { run: Dhrystone::runs, expected: Dhrystone::expected, amount: 1.0 }.trial(),
    ..Benchmark::BLANK
};

const RUST: &str = "written in Rust, which checks indices; no procedure is merged with another";
