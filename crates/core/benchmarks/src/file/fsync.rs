//! Making appended data durable.

use std::fs::File;
use std::io::Write;

use super::place;
use crate::Scratch;
use crate::prelude::*;
use crate::room::require_length;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "file.fsync",
    title: "append + fsync",
    about: "Appends 4 KiB to a file in the target directory and waits until data and length are durable (fsync).",
    metric: BenchmarkMetric::lower(Unit::Seconds, "append"),
    class: Class::FileMetadata,
    stresses: &[Primitive::Durability, Primitive::DiskWrite],
    usual: true,
    key: &[(80, "append + fsync", "")],
    sources: &[DefinitionSource::new("POSIX", "fsync", "fsync(2)")],
    batch: BatchRule::at_most(1024),
    prepare,
    ..Benchmark::BLANK
};

const APPEND: usize = 4 * KIB as usize;
/// Bytes after which the file is truncated.
const LONGEST: u64 = 64 * MIB;
/// Single operations timed for the distribution; on a slow disk they take long.
const SINGLE: usize = 64;

struct Append {
    file: File,
    _files: Rc<Scratch>,
    length: u64,
}

fn prepare(_: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let files = context.scratch()?;
    let directory = context.directory().to_owned();
    place::describe(&directory, context);
    place::require_durability(&directory)?;
    place::require_space(&directory, LONGEST)?;
    require_length(LONGEST)?;
    let file = File::options().append(true).create_new(true).open(files.path().join("appended"))?;
    Ok(Trial::one(Append { file, _files: files, length: 0 }))
}

impl Append {
    fn append(&mut self) -> Result<(), BenchmarkError> {
        self.file.write_all(&[0x5a; APPEND])?;
        Ok(kernels::file::sync(&self.file)?)
    }
}

impl Kernel for Append {
    fn ready(&mut self, ops: u64) -> Result<(), BenchmarkError> {
        self.length = self.file.metadata()?.len();
        if self.length + ops * APPEND as u64 > LONGEST {
            self.file.set_len(0)?;
            kernels::file::sync(&self.file)?;
            self.length = 0;
        }
        Ok(())
    }

    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut durable = 0;
        for _ in 0..ops {
            self.append()?;
            durable += APPEND as u64;
        }
        Ok(BatchWork { ops, token: durable })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let grown = self.file.metadata()?.len() - self.length;
        BenchmarkError::unless_equal((done.token, done.ops * APPEND as u64), (grown, grown))
    }

    fn each(&mut self, record: &mut Recorder) -> Result<(), BenchmarkError> {
        self.ready(SINGLE as u64)?;
        for _ in 0..record.remaining().min(SINGLE) {
            record.time(|| self.append())?;
        }
        Ok(())
    }
}
