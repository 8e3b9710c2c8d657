//! Rereading a cached file.

use kernels::file::AlignedBuffer;

use super::cached::{BLOCK, BLOCKS, Cached, FROM_DISK, read_block, read_from_disk, sum};
use super::place;
use crate::benchmark::Shares;
use crate::peer_process::fold;
use crate::prelude::*;
use crate::stream::DATA;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "file.read_cached",
    title: "cached file read",
    about: "Rereads a cached file of 64 MiB in reads of 64 KiB. With `data=touched` every word is summed. With \
            `copied` only the first word of each read is summed, so the kernel's copy remains. Bytes count once, as \
            read. A batch that reads from the disk is an error.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes read"),
    class: Class::FileData,
    stresses: &[Primitive::PageCache, Primitive::KernelCopy, Primitive::DramRead],
    sources: &[
        DefinitionSource::new("lmbench", "bw_file_rd", "McVoy & Staelin, USENIX ATC 1996")
            .near("a file of 64 MiB, where the source reads 8 MB"),
        DefinitionSource::new("DAISy/HEAT", "table 10", "section 6.6.1.2")
            .near("a file of 64 MiB, where the source reads 8 MB"),
    ],
    parameters: &[Parameter::choice("data", DATA, &["copied", "touched"]), place::place(&["target"])],
    shares: Some(Shares { key: "cached_file", parameters: &["place"] }),
    prepare,
    ..Benchmark::BLANK
};

struct Reread {
    cached: Rc<Cached>,
    /// Page-aligned: the kernel copies fastest into aligned buffers.
    buffer: AlignedBuffer,
    touched: bool,
    began: u64,
    next: u64,
    /// Blocks that this thread had read from disks before the batch, and when it last saw where the file is.
    read_before: u64,
    looked: u64,
}

/// Interval at which it is seen whether all pages are in the cache, nanoseconds: it takes as long as 10 MB of copies.
const LOOK: u64 = 50_000_000;

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let touched = at.choice("data")? == "touched";
    let cached = Cached::shared(at, context)?;
    Ok(Trial::one(Reread {
        cached,
        buffer: AlignedBuffer::new(BLOCK)?,
        touched,
        began: 0,
        next: 0,
        read_before: 0,
        looked: 0,
    }))
}

impl Kernel for Reread {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.next;
        let mut token = 0;
        for _ in 0..ops {
            read_block(&self.cached.file, &mut self.buffer, self.next % BLOCKS)?;
            self.next += 1;
            token = fold(token, if self.touched { sum(&self.buffer) } else { sum(&self.buffer[..8]) });
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        // Data from the disk are in the page cache afterwards.
        if read_from_disk() > self.read_before {
            return Err(BenchmarkError::new(FROM_DISK));
        }
        if kernels::clock::now() - self.looked > LOOK {
            self.cached.verify_cached()?;
            self.looked = kernels::clock::now();
        }
        let numbers = (self.began..self.began + done.ops).map(|number| number % BLOCKS);
        let expected = |number| if self.touched { self.cached.sum(number) } else { self.cached.first(number) };
        BenchmarkError::unless_equal(done.token, numbers.fold(0, |token, number| fold(token, expected(number))))
    }

    fn ready(&mut self, _ops: u64) -> Result<(), BenchmarkError> {
        self.read_before = read_from_disk();
        Ok(())
    }

    fn amount(&self) -> f64 {
        BLOCK as f64
    }

    fn declared(&self) -> Option<DeclaredCost> {
        Some(DeclaredCost { bytes_read: BLOCK as f64, bytes_written: BLOCK as f64, operations: 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a batch that read from the disk all pages are in the cache again, so only the count of blocks shows it.
    #[test]
    fn a_batch_that_reads_from_the_disk_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let mut context = BenchmarkContext::new(crate::SampleSetting::within(directory.path()));
        let cached = Cached::shared(&"place=target".parse().unwrap(), &mut context).unwrap();
        let buffer = AlignedBuffer::new(BLOCK).unwrap();
        let mut reread =
            Reread { cached, buffer, touched: true, began: 0, next: 0, read_before: 0, looked: kernels::clock::now() };
        let mut batch = |drop: bool| {
            reread.ready(BLOCKS).unwrap();
            let before = read_from_disk();
            if drop {
                reread.cached.file.sync_all().unwrap();
                kernels::file::advise(&reread.cached.file, kernels::file::Advice::DontNeed).unwrap();
            }
            let done = reread.batch(BLOCKS).unwrap();
            let from_disk = read_from_disk() > before;
            assert_eq!(reread.check(&done).is_err(), from_disk);
            from_disk
        };
        // Other programs may need the memory at the same time.
        batch(false);
        if !batch(true) {
            testing::lacks!("the directory of tests has no disk that counts what is read");
        }
    }
}
