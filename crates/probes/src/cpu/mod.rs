//! The processor: arithmetic, small programs by which machines were rated in tables of 1976-2004, and peak rates of
//! instruction classes.

mod add;
mod aes;
mod arithmetic;
mod branch_miss;
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

use crate::Probe;

pub(crate) static TABLE: &[&Probe] = &[
    &arithmetic::PROBE,
    &add::PROBE,
    &multiply::PROBE,
    &divide::PROBE,
    &dhrystone::PROBE,
    &whetstone::PROBE,
    &hanoi::PROBE,
    &branch_miss::PROBE,
    &fma_peak::PROBE,
    &int8_dot::PROBE,
    &aes::PROBE,
    &sha256::PROBE,
    &popcount::PROBE,
    &crc32c::PROBE,
];
