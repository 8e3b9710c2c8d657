//! Reading a cached file through a mapping.

use std::fs::File;

use kernels::memory::FileMap;

use super::cached::{Cached, FROM_DISK, SIZE, read_from_disk};
use super::place;
use crate::benchmark::Shares;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "file.mmap_read",
    title: "mapped file read",
    about: "Sums every word of a mapped, cached file of 64 MiB. With `mapping=once` it is mapped and touched before. \
            With `open_to_close` it is opened, mapped, summed, unmapped and closed each time, page faults included. \
            Bytes count once, as read.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes read"),
    class: Class::FileData,
    stresses: &[Primitive::PageCache, Primitive::DramRead, Primitive::PageFault],
    sources: &[
        DefinitionSource::new("lmbench", "bw_mmap_rd mmap_only, open2close", "McVoy & Staelin, USENIX ATC 1996")
            .near("a file of 64 MiB, where the source reads 8 MB"),
        DefinitionSource::new("DAISy/HEAT", "table 10", "section 6.6.1.2")
            .near("a file of 64 MiB, where the source reads 8 MB"),
    ],
    parameters: &[
        Parameter::choice("mapping", &["once", "open_to_close"], &["once", "open_to_close"]),
        place::place(&["target"]),
    ],
    shares: Some(Shares { key: "cached_file", parameters: &["place"] }),
    prepare,
    ..Benchmark::BLANK
};

struct MappedReadKernel {
    cached: Rc<Cached>,
    /// Kept between passes, if the parameters require it.
    map: Option<FileMap>,
    /// Blocks that this thread had read from disks before the batch.
    read_before: u64,
}

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let cached = Cached::shared(at, context)?;
    let map = (at.choice("mapping")? == "once").then(|| FileMap::new(&cached.file)).transpose()?;
    if let Some(map) = &map {
        std::hint::black_box(map.touch_pages());
    }
    Ok(Trial::one(MappedReadKernel { cached, map, read_before: 0 }))
}

impl Kernel for MappedReadKernel {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut token = 0_u64;
        for _ in 0..ops {
            token = token.wrapping_add(match &self.map {
                Some(map) => map.sum(),
                None => FileMap::new(&File::open(&self.cached.path)?)?.sum(),
            });
        }
        Ok(BatchWork { ops, token })
    }

    fn ready(&mut self, _ops: u64) -> Result<(), BenchmarkError> {
        self.read_before = read_from_disk();
        Ok(())
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        // Data from the disk are in the page cache afterwards.
        if read_from_disk() > self.read_before {
            return Err(BenchmarkError::new(FROM_DISK));
        }
        self.cached.verify_cached()?;
        BenchmarkError::unless_equal(done.token, self.cached.total().wrapping_mul(done.ops))
    }

    fn amount(&self) -> f64 {
        SIZE as f64
    }

    fn declared(&self) -> Option<DeclaredCost> {
        Some(DeclaredCost { bytes_read: SIZE as f64, bytes_written: 0.0, operations: 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a pass that read from the disk all pages are in the cache again, so only the count of blocks shows it.
    #[test]
    fn a_pass_that_reads_from_the_disk_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let mut context = BenchmarkContext::new(crate::SampleSetting::within(directory.path()));
        let cached = Cached::shared(&"place=target".parse().unwrap(), &mut context).unwrap();
        let mut kernel = MappedReadKernel { cached, map: None, read_before: 0 };
        let mut pass = |drop: bool| {
            kernel.ready(1).unwrap();
            let before = read_from_disk();
            if drop {
                kernel.cached.file.sync_all().unwrap();
                kernels::file::advise(&kernel.cached.file, kernels::file::Advice::DontNeed).unwrap();
            }
            let done = kernel.batch(1).unwrap();
            let from_disk = read_from_disk() > before;
            assert!(kernel.check(&done).is_err() || !from_disk, "told as cached");
            from_disk
        };
        // Other programs may need the memory at the same time.
        pass(false);
        if !pass(true) {
            testing::lacks!("the directory of tests has no disk that counts what is read");
        }
    }
}
