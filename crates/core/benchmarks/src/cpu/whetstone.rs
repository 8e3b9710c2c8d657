//! Whetstone.

use kernels::whetstone;

use super::repeating::Repeating;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "cpu.whetstone",
    title: "Whetstone",
    about: "Loops over the eight modules of Whetstone in double precision, each as often as published. They are array \
            elements, arrays as parameters, jumps, integers, trigonometry, calls, array references, and standard \
            functions of the C library. One loop counts as 100,000 Whetstone instructions. Their rate in millions is \
            known as MWIPS.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "Whetstone instructions"),
    stresses: &[Primitive::CoreClock, Primitive::FloatingPoint, Primitive::Divide],
    key: &[(31, "one core, Whetstone", "")],
    sources: &[
        DefinitionSource::new(
            "Whetstone",
            "MWIPS",
            "H. J. Curnow and B. A. Wichmann, The Computer Journal 19(1), 1976",
        ),
        DefinitionSource::new("BYTE", "Double-Precision Whetstone", "github.com/kdlucas/byte-unixbench").near(
            "written in Rust, every module of 1976 whole; the source's compiler leaves some out, and its sixth is of 1987",
        ),
    ],
    prepare: |_, _| {
        let amount = whetstone::INSTRUCTIONS as f64;
        Repeating { run: whetstone::loops, expected: whetstone::expected, amount }.trial()
    },
    ..Benchmark::BLANK
};
