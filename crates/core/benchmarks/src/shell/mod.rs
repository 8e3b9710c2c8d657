//! shell: benchmarks of this family.

mod compile;
mod dc;
mod script;

use model::Primitive;

use crate::Benchmark;

/// Where the programs run: all on the CPU under test, or where the scheduler puts them, as BYTE's do. Where it is free,
/// the number of CPUs that a script uses changes from sample to sample, and its rate with it by a quarter.
const WHERE: &[&str] = &["same_cpu", "free"];

/// What programs that handle files touch, as nobody counts it.
const FILES: &[Primitive] = &[
    Primitive::FileMetadata,
    Primitive::Durability,
    Primitive::DynamicLink,
    Primitive::PageFault,
    Primitive::PageCache,
    Primitive::DiskRead,
    Primitive::DiskWrite,
];

/// In the order of reports.
pub(crate) static TABLE: &[&Benchmark] = &[&script::BENCHMARK, &compile::BENCHMARK, &dc::BENCHMARK];
