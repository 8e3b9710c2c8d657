//! Types shared by the media of large blocks.

use std::fs::File;
use std::path::Path;

use kernels::file::{open_direct, open_direct_alone};
use model::MIB;
use os::file::Device;

use crate::Unsupported;

/// The usual length of a stream, bytes.
pub(super) const USUAL: u64 = 64 * MIB;

/// Mixed with the offset of a plain block: the first eight bytes identify blocks of these benchmarks.
pub(super) const MARK: u64 = 0x5052_4f4e_5953_5452;

/// Read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransferDirection {
    Read,
    Write,
}

/// Result of the transfer of one block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TransferStep {
    /// The whole block.
    Whole,
    /// No further block can be read or written.
    End,
}

/// Opens a device in one direction.
pub(super) fn open(path: &Path, way: TransferDirection, kind: Device) -> Result<File, Unsupported> {
    let mut options = File::options();
    let options = options.read(way == TransferDirection::Read).write(way == TransferDirection::Write);
    Ok(match (kind, way) {
        (Device::Character, _) => options.open(path)?,
        (Device::Block, TransferDirection::Read) => open_direct(path, options)?,
        (Device::Block, TransferDirection::Write) => open_direct_alone(path, options)?,
    })
}
