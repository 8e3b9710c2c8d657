//! Large blocks to a disk or a tape.

use super::sequential::{BATCH, PARAMETERS, prepare};
use super::transfer::TransferDirection;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "file.sequential_write",
    title: "sequential write",
    about: "Writes a medium in large blocks in sequence, past the page cache. With `medium=file` it is a file of 64 \
            MiB, overwritten repeatedly. With `device` it is the device named as the target directory: the first GiB \
            of a disk, or a tape until its end. With `target` it is the medium of `prony run --target-device`: up to \
            64 MiB of a file or a disk, or a tape. With a greater `length`, every batch streams all of it, so a \
            drive's buffer or a disk's cache holds little of it. Blocks are plain, or records of a tar stream with \
            members of 1 MiB.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes written"),
    class: Class::FileData,
    stresses: &[Primitive::DiskWrite],
    usual: true,
    sources: &[
        DefinitionSource::new("AMS-02", "tape streaming, by dd and by tar", "Choutko & Klimentov, AMS note 2001-11-01"),
        DefinitionSource::new("POSIX", "dd, pax", "dd(1), tar(5)"),
    ],
    parameters: PARAMETERS,
    batch: BATCH,
    prepare: |at, context| prepare(TransferDirection::Write, at, context),
    ..Benchmark::BLANK
};
