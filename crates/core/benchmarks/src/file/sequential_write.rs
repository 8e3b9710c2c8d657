//! Large blocks to a disk or a tape.

use super::sequential::{BATCH, PARAMETERS, prepare};
use super::transfer::TransferDirection;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "file.sequential_write",
    title: "sequential write",
    about: "Writes large blocks one after another past the page cache. medium=file: over a file of 64 MiB, again and \
            again. medium=device: to the device that stands in the place of the target directory, the first GiB of a disk \
            or a tape until its end. medium=target: to the medium of prony run --target-device, of which a file or a disk holds up to 64 MiB. \
            Of a greater length, every batch streams all of it: what a drive buffers, or a disk's cache takes, is \
            then little of it. Blocks are plain, or records of a tar stream with members of 1 MiB.",
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
