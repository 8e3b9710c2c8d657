//! File read through the page cache.

use super::buffered::{AXES, Buffered, Deed};
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "file.read",
    title: "file read",
    about: "Reads a cached file. Files of 500, 2000 and 8000 KiB by buffers of 256 B, 1 KiB and 4 KiB, from beginning to end and again. Bytes count once.",
    metric: Metric::higher(Unit::BytesPerSecond, "bytes read"),
    class: Class::FileData,
    stresses: &[Primitive::PageCache, Primitive::SyscallEntry, Primitive::KernelCopy],
    sources: &[
        Source::new("BYTE", "File Read", "UnixBench, src/fstime.c"),
        Source::new("CyberLife", "File Read", "CyberLife Labs notes, 2004"),
    ],
    axes: AXES,
    prepare: |at, bench| Ok(Trial::one(Buffered::new(Deed::Read, at, bench)?)),
    ..Probe::BLANK
};
