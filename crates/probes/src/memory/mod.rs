//! Memory: bandwidth of streaming kernels, copies, and latency of dependent loads.

mod add;
mod copy;
mod copying;
mod field;
mod load_latency;
mod memcpy;
mod memcpy_unrolled;
mod read;
mod scale;
mod streaming;
mod triad;
mod write;

use crate::Probe;

pub(crate) static TABLE: &[&Probe] = &[
    &copy::PROBE,
    &scale::PROBE,
    &add::PROBE,
    &triad::PROBE,
    &read::PROBE,
    &write::PROBE,
    &memcpy::PROBE,
    &memcpy_unrolled::PROBE,
    &load_latency::PROBE,
];
