//! Sums of a series in one type: the arithmetic tests of the BYTE benchmark.

use super::counting;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.arithmetic",
    title: "arithmetic",
    about: "Sums y / (y - 1) with y = x * x for x from 2 to 101 in one type. The type `overhead` is the same loop \
            with nothing in it. Counts whole sums of 100 terms, as BYTE does. The loop is in assembly (elsewhere kept \
            from the optimiser), because compilers reduce the original to nothing.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "sums of 100 terms"),
    stresses: &[Primitive::CoreClock, Primitive::IntegerAlu, Primitive::FloatingPoint, Primitive::Divide],
    key: &[(20, "one core, integer", "type=int"), (30, "one core, floating point", "type=double")],
    sources: &[
        DefinitionSource::new("BYTE", "arithmetic test", "BYTE magazine's Unix benchmarks, version 3, 1991")
            .near(ASSEMBLY),
        DefinitionSource::new("CyberLife", "Arithmetic Test", "CyberLife Labs notes, 2004").near(ASSEMBLY),
    ],
    parameters: &[Parameter::choice(
        "type",
        &["overhead", "short", "int", "long", "float", "double"],
        &["int", "double"],
    )],
    batch: counting::BATCH,
    prepare: |at, context| {
        let kind = at.choice("type")?;
        let kind = if kind == "overhead" { "empty" } else { kind };
        counting::strongest(&format!("arithmetic_{kind}"), |_| 1, context)
    },
    ..Benchmark::BLANK
};

const ASSEMBLY: &str = "the loop is in assembly, so that no compiler drops it";
