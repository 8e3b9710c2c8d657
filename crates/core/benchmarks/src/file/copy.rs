//! File copy through the page cache.

use super::buffered::{Buffered, BufferedAction, WRITING};
use super::place::durable_in_memory;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "file.copy",
    title: "file copy",
    about: "Copies a cached file over another by reads and writes, from beginning to end, repeatedly. Buffers of 256 \
            B, 1 KiB and 4 KiB go with files of 500, 2000 and 8000 KiB. With fsync, each file is durable before it is \
            written again, so the disk decides. Bytes count once.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes copied"),
    class: Class::FileData,
    stresses: &[Primitive::DiskWrite, Primitive::PageCache, Primitive::SyscallEntry, Primitive::KernelCopy],
    sources: &[
        DefinitionSource::new("BYTE", "File Copy", "UnixBench, src/fstime.c"),
        DefinitionSource::new("CyberLife", "File Copy", "CyberLife Labs notes, 2004").at("durability=fsync").near(DISK),
        DefinitionSource::new("CyberLife", "File Copy", "CyberLife Labs notes, 2004").other(CACHE),
    ],
    parameters: WRITING,
    skips: durable_in_memory,
    prepare: |at, context| Ok(Trial::one(Buffered::new(BufferedAction::Copy, at, context)?)),
    ..Benchmark::BLANK
};

const DISK: &str =
    "a file of 2000 KiB made durable again and again, where the source wrote for 10 s and let the system flush";
const CACHE: &str = "the source says that its disk limits its result; this one stays in the page cache";
