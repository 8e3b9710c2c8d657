//! Large blocks from a disk or a tape.

use super::sequential::{BATCH, PARAMETERS, prepare};
use super::transfer::TransferDirection;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "file.sequential_read",
    title: "sequential read",
    about: "Reads large blocks one after another past the page cache. medium=file: from a file of 64 MiB and again from its \
            beginning. medium=device: what is on the device that stands in the place of the target directory, the first GiB of \
            a disk or a tape until its end. medium=target: from the medium of prony run --target-device, up to 64 MiB that the sample wrote \
            there first. Of a greater length, every batch streams all of it: what a drive buffers, or a disk's cache holds, is \
            then little of it. Blocks are plain, or records of a tar stream with members of 1 MiB.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes read"),
    class: Class::FileData,
    stresses: &[Primitive::DiskRead],
    sources: &[
        DefinitionSource::new("AMS-02", "tape streaming, by dd and by tar", "Choutko & Klimentov, AMS note 2001-11-01"),
        DefinitionSource::new("POSIX", "dd, pax", "dd(1), tar(5)"),
    ],
    parameters: PARAMETERS,
    batch: BATCH,
    prepare: |at, context| prepare(TransferDirection::Read, at, context),
    ..Benchmark::BLANK
};
