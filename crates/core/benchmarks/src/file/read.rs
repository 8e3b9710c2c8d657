//! File read through the page cache.

use super::buffered::{Buffered, BufferedAction, PARAMETERS};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "file.read",
    title: "file read",
    about: "Reads a cached file from beginning to end, repeatedly. Buffers of 256 B, 1 KiB and 4 KiB go with files of \
            500, 2000 and 8000 KiB. Bytes count once.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes read"),
    class: Class::FileData,
    stresses: &[Primitive::PageCache, Primitive::SyscallEntry, Primitive::KernelCopy],
    sources: &[
        DefinitionSource::new("BYTE", "File Read", "UnixBench, src/fstime.c"),
        DefinitionSource::new("CyberLife", "File Read", "CyberLife Labs notes, 2004"),
    ],
    parameters: PARAMETERS,
    prepare: |at, context| Ok(Trial::one(Buffered::new(BufferedAction::Read, at, context)?)),
    ..Benchmark::BLANK
};
