//! shell: benchmarks of this family.

mod compile;
mod dc;
mod script;

use model::Primitive;

use crate::Benchmark;

/// CPUs of the programs: all on the CPU under test, or free for the scheduler, as BYTE's are. If they are free, the
/// number of CPUs of a script changes from sample to sample, and its rate with it by a quarter.
const WHERE: &[&str] = &["same_cpu", "free"];

/// Primitives of programs that handle files, which nobody counts.
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
