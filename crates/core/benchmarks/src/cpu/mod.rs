//! The processor: arithmetic, small programs by which machines were rated in tables of 1976-2004, and peak rates of
//! instruction classes.

mod add;
mod aes;
mod arithmetic;
mod branch_miss;
mod core_loop;
mod counting;
mod crc32c;
mod dhrystone;
mod divide;
mod fma_peak;
mod hanoi;
mod int8_dot;
mod multiply;
mod popcount;
mod repeating;
mod sha256;
mod whetstone;

use crate::Benchmark;

pub(crate) static TABLE: &[&Benchmark] = &[
    &arithmetic::BENCHMARK,
    &add::BENCHMARK,
    &core_loop::BENCHMARK,
    &multiply::BENCHMARK,
    &divide::BENCHMARK,
    &dhrystone::BENCHMARK,
    &whetstone::BENCHMARK,
    &hanoi::BENCHMARK,
    &branch_miss::BENCHMARK,
    &fma_peak::BENCHMARK,
    &int8_dot::BENCHMARK,
    &aes::BENCHMARK,
    &sha256::BENCHMARK,
    &popcount::BENCHMARK,
    &crc32c::BENCHMARK,
];
