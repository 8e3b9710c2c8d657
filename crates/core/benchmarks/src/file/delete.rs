//! Removing files.

use super::folders::{BATCH, Folders, PARAMETERS};
use super::place::durable_in_memory;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "file.delete",
    title: "file deletion",
    about: "Removes files that were made before, at most 100 in a directory. With fsync, each removal is durable \
            before the next. The files are counted on disk before and afterwards.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "files"),
    class: Class::FileMetadata,
    stresses: &[Primitive::FileMetadata, Primitive::Durability],
    sources: &[
        DefinitionSource::new("BaBar", "table 7, file deletion", "T. J. Pavel, CHEP 98")
            .near("in the fastest of eight directories, at most a hundred files in each"),
        DefinitionSource::new("lmbench", "lat_fs", "McVoy & Staelin, USENIX ATC 1996")
            .near("in the fastest of eight directories, at most a hundred files in each"),
    ],
    parameters: PARAMETERS,
    skips: durable_in_memory,
    // Every file is created again before the next batch, which on a disk takes far longer than its removal.
    batch: BatchRule::at_most(BATCH),
    prepare: |at, context| Ok(Trial::one(Delete { files: Folders::new("delete", at, context)?, there: 0 })),
    ..Benchmark::BLANK
};

struct Delete {
    files: Folders,
    there: u64,
}

impl Kernel for Delete {
    fn ready(&mut self, ops: u64) -> Result<(), BenchmarkError> {
        self.files.prepare(ops)?;
        for index in 0..ops {
            self.files.create(index)?;
        }
        self.there = self.files.found()?;
        Ok(())
    }

    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut removed = 0;
        for index in 0..ops {
            self.files.delete(index)?;
            removed += 1;
        }
        Ok(BatchWork { ops, token: removed })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let removed = self.there - self.files.found()?;
        BenchmarkError::unless_equal((done.token, done.ops), (removed, removed))
    }
}
