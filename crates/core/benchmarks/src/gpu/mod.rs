//! Accelerators: memory, arithmetic, copies, launches, and a track fit, through CUDA's driver or OpenCL.

mod atomic;
mod clock;
mod copy;
mod device;
mod energy;
mod fma;
mod fused;
mod host_copy;
mod launch;
mod load_latency;
mod matrix;
mod overlap;
mod read;
mod reconstruct;
mod shared_latency;
mod streaming;
mod tracks;
mod triad;
mod write;

use crate::Benchmark;

pub(crate) static TABLE: &[&Benchmark] = &[
    &triad::BENCHMARK,
    &copy::BENCHMARK,
    &read::BENCHMARK,
    &write::BENCHMARK,
    &load_latency::BENCHMARK,
    &shared_latency::BENCHMARK,
    &fma::BENCHMARK,
    &matrix::BENCHMARK,
    &atomic::BENCHMARK,
    &host_copy::BENCHMARK,
    &launch::BENCHMARK,
    &overlap::BENCHMARK,
    &clock::BENCHMARK,
    &reconstruct::BENCHMARK,
    &energy::BENCHMARK,
];
