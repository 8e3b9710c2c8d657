//! file: benchmarks of this family.

mod buffered;
mod cached;
mod copy;
mod create;
mod delete;
mod folders;
mod fsync;
mod medium;
mod mmap_read;
pub(crate) mod place;
mod read;
mod read_cached;
mod sequential;
mod sequential_read;
mod sequential_write;
mod tar;
mod target;
mod transfer;
mod write;

use crate::Benchmark;

/// In the order of reports.
pub(crate) static TABLE: &[&Benchmark] = &[
    &create::BENCHMARK,
    &delete::BENCHMARK,
    &fsync::BENCHMARK,
    &read_cached::BENCHMARK,
    &mmap_read::BENCHMARK,
    &read::BENCHMARK,
    &write::BENCHMARK,
    &copy::BENCHMARK,
    &sequential_read::BENCHMARK,
    &sequential_write::BENCHMARK,
];
