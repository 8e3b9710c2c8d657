//! Reading a cached file through a mapping.

use std::fs::File;

use sys::memory::FileMap;

use super::cached::{Cached, SIZE};
use super::place;
use crate::prelude::*;
use crate::probe::Shares;

pub(super) static PROBE: Probe = Probe {
    id: "file.mmap_read",
    title: "mapped file read",
    about: "Sums every word of a mapped, cached file of 64 MiB. Once: mapped and touched before; open to close: opened, mapped, \
            summed, unmapped and closed each time, page faults included. Bytes count once, as read.",
    metric: ProbeMetric::higher(Unit::BytesPerSecond, "bytes read"),
    class: Class::FileData,
    stresses: &[Primitive::PageCache, Primitive::DramRead, Primitive::PageFault],
    sources: &[
        DefinitionSource::new("lmbench", "bw_mmap_rd mmap_only, open2close", "McVoy & Staelin, USENIX ATC 1996")
            .near("a file of 64 MiB, where the source reads 8 MB"),
        DefinitionSource::new("DAISy/HEAT", "table 10", "section 6.6.1.2")
            .near("a file of 64 MiB, where the source reads 8 MB"),
    ],
    axes: &[Axis::choice("mapping", &["once", "open_to_close"], &["once", "open_to_close"]), place::place(&["target"])],
    shares: Some(Shares { key: "cached_file", axes: &["place"] }),
    prepare,
    ..Probe::BLANK
};

struct MappedReadKernel {
    cached: Rc<Cached>,
    /// Kept between passes, if the point requires it.
    map: Option<FileMap>,
}

fn prepare(at: &Point, context: &mut ProbeContext) -> Result<Trial, Unsupported> {
    let cached = Cached::shared(at, context)?;
    let map = (at.choice("mapping")? == "once").then(|| FileMap::new(&cached.file)).transpose()?;
    if let Some(map) = &map {
        std::hint::black_box(map.touch_pages());
    }
    Ok(Trial::one(MappedReadKernel { cached, map }))
}

impl Kernel for MappedReadKernel {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, ProbeError> {
        let mut token = 0_u64;
        for _ in 0..ops {
            token = token.wrapping_add(match &self.map {
                Some(map) => map.sum(),
                None => FileMap::new(&File::open(&self.cached.path)?)?.sum(),
            });
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), ProbeError> {
        ProbeError::unless_equal(done.token, self.cached.total().wrapping_mul(done.ops))
    }

    fn amount(&self) -> f64 {
        SIZE as f64
    }

    fn declared(&self) -> Option<DeclaredCost> {
        Some(DeclaredCost { bytes_read: SIZE as f64, bytes_written: 0.0, operations: 1.0 })
    }
}
