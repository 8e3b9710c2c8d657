//! file: probes of this family.

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

use crate::Probe;

/// In the order of reports.
pub(crate) static TABLE: &[&Probe] = &[
    &create::PROBE,
    &delete::PROBE,
    &fsync::PROBE,
    &read_cached::PROBE,
    &mmap_read::PROBE,
    &read::PROBE,
    &write::PROBE,
    &copy::PROBE,
    &sequential_read::PROBE,
    &sequential_write::PROBE,
];
