//! Rereading a cached file.

use sys::file::AlignedBuffer;

use super::cached::{BLOCK, BLOCKS, Cached, read_block, sum};
use super::place;
use crate::peer_process::fold;
use crate::prelude::*;
use crate::probe::Shares;
use crate::stream::DATA;

pub(super) static PROBE: Probe = Probe {
    id: "file.read_cached",
    title: "cached file read",
    about: "Rereads a cached file of 64 MiB in reads of 64 KiB. Touched: every word read is summed; copied: only the first of each \
            read is, so the kernel's copy is what remains. Bytes count once, as read. After each batch all pages must still be in the \
            page cache.",
    metric: ProbeMetric::higher(Unit::BytesPerSecond, "bytes read"),
    class: Class::FileData,
    stresses: &[Primitive::PageCache, Primitive::KernelCopy, Primitive::DramRead],
    sources: &[
        DefinitionSource::new("lmbench", "bw_file_rd", "McVoy & Staelin, USENIX ATC 1996")
            .near("a file of 64 MiB, where the source reads 8 MB"),
        DefinitionSource::new("DAISy/HEAT", "table 10", "section 6.6.1.2")
            .near("a file of 64 MiB, where the source reads 8 MB"),
    ],
    axes: &[Axis::choice("data", DATA, &["copied", "touched"]), place::place(&["target"])],
    shares: Some(Shares { key: "cached_file", axes: &["place"] }),
    prepare,
    ..Probe::BLANK
};

struct Reread {
    cached: Rc<Cached>,
    /// Page-aligned: the kernel copies fastest into aligned buffers.
    buffer: AlignedBuffer,
    touched: bool,
    began: u64,
    next: u64,
}

fn prepare(at: &Point, context: &mut ProbeContext) -> Result<Trial, Unsupported> {
    let touched = at.choice("data")? == "touched";
    let cached = Cached::shared(at, context)?;
    Ok(Trial::one(Reread { cached, buffer: AlignedBuffer::new(BLOCK)?, touched, began: 0, next: 0 }))
}

impl Kernel for Reread {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        self.began = self.next;
        let mut token = 0;
        for _ in 0..ops {
            read_block(&self.cached.file, &mut self.buffer, self.next % BLOCKS)?;
            self.next += 1;
            token = fold(token, if self.touched { sum(&self.buffer) } else { sum(&self.buffer[..8]) });
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        self.cached.verify_cached()?;
        let numbers = (self.began..self.began + done.ops).map(|number| number % BLOCKS);
        let expected = |number| if self.touched { self.cached.sum(number) } else { self.cached.first(number) };
        ProbeError::unless_equal(done.token, numbers.fold(0, |token, number| fold(token, expected(number))))
    }

    fn amount(&self) -> f64 {
        BLOCK as f64
    }

    fn declared(&self) -> Option<DeclaredCost> {
        Some(DeclaredCost { bytes_read: BLOCK as f64, bytes_written: BLOCK as f64, operations: 1.0 })
    }
}
