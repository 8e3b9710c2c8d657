//! Creating files.

use super::folders::{BATCH, Folders, PARAMETERS};
use super::place::durable_in_memory;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "file.create",
    title: "file creation",
    about: "Creates files, writes their content and closes them, at most 100 in a directory. With fsync, content and \
            directory entry of each file are durable before the next. Afterwards the files are counted on disk. If \
            the file system spreads directories over block groups, a sample works in the fastest of eight. In the \
            others, removals of minutes ago still slow creation down.",
    metric: BenchmarkMetric::higher(Unit::PerSecond, "files"),
    class: Class::FileMetadata,
    stresses: &[Primitive::FileMetadata, Primitive::Durability],
    usual: true,
    sources: &[
        DefinitionSource::new("BaBar", "table 7, file creation", "T. J. Pavel, CHEP 98")
            .near("in the fastest of eight directories, at most a hundred files in each"),
        DefinitionSource::new("lmbench", "lat_fs", "McVoy & Staelin, USENIX ATC 1996")
            .near("in the fastest of eight directories, at most a hundred files in each"),
    ],
    parameters: PARAMETERS,
    skips: durable_in_memory,
    // Every file is removed before the next batch, which on a disk may take far longer than a batch.
    batch: BatchRule::at_most(BATCH),
    prepare: |at, context| Ok(Trial::one(FileCreateKernel { files: Folders::new("create", at, context)? })),
    ..Benchmark::BLANK
};

struct FileCreateKernel {
    files: Folders,
}

impl Kernel for FileCreateKernel {
    fn ready(&mut self, ops: u64) -> Result<(), BenchmarkError> {
        self.files.prepare(ops)
    }

    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut made = 0;
        for index in 0..ops {
            self.files.create(index)?;
            made += 1;
        }
        Ok(BatchWork { ops, token: made })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let found = self.files.found()?;
        BenchmarkError::unless_equal((done.token, done.ops), (found, found))
    }

    /// The distribution says more than a median: some creations find a new block of the table of inodes, or wait for
    /// pages that are written out.
    fn each(&mut self, record: &mut Recorder) -> Result<(), BenchmarkError> {
        let room = (record.remaining() as u64).min(self.files.most());
        self.files.prepare(room)?;
        for index in 0..room {
            record.time(|| self.files.create(index))?;
        }
        BenchmarkError::unless_equal(self.files.found()?, room)
    }
}
