//! Accelerators: memory, arithmetic, copies, launches, and a track fit, through CUDA's driver or OpenCL.

mod atomic;
mod clock;
mod device;
mod energy;
mod fma;
mod fused;
mod host_copy;
mod launch;
mod load_latency;
mod matrix;
mod overlap;
mod reconstruct;
mod shared_latency;
mod streaming;
mod tracks;

use crate::Benchmark;

pub(crate) static TABLE: &[&Benchmark] = &[
    &streaming::TRIAD,
    &streaming::COPY,
    &streaming::READ,
    &streaming::WRITE,
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
