//! File copy through the page cache.

use super::buffered::{AXES, Buffered, BufferedAction};
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "file.copy",
    title: "file copy",
    about: "Copies a cached file over another by reads and writes. Files of 500, 2000 and 8000 KiB by buffers of 256 B, 1 KiB and 4 KiB, from beginning to end and again. Bytes count once.",
    metric: ProbeMetric::higher(Unit::BytesPerSecond, "bytes copied"),
    class: Class::FileData,
    stresses: &[Primitive::PageCache, Primitive::SyscallEntry, Primitive::KernelCopy],
    sources: &[
        DefinitionSource::new("BYTE", "File Copy", "UnixBench, src/fstime.c"),
        DefinitionSource::new("CyberLife", "File Copy", "CyberLife Labs notes, 2004"),
    ],
    axes: AXES,
    prepare: |at, context| Ok(Trial::one(Buffered::new(BufferedAction::Copy, at, context)?)),
    ..Probe::BLANK
};
