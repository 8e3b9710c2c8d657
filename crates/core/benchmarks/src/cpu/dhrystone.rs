//! Dhrystone 2.1.

use kernels::dhrystone::Dhrystone;

use super::repeating::Repeating;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.dhrystone",
    title: "Dhrystone",
    about: "Runs of a program with the statement mix of Dhrystone 2.1, in this project's words and with Rust's checks of array bounds: calls that are never inlined, assignments of numbers, a record and strings, comparisons. Compilers choose registers themselves today, so BYTE's two results, with register variables and without, are this one.",
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
