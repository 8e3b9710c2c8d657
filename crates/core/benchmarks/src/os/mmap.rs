//! Mapping a file.

use std::fs::File;
use std::io::Write;

use kernels::memory::FileMap;

use crate::Scratch;
use crate::file::place;
use crate::prelude::*;
use crate::room::{require_length, require_memory};

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.mmap",
    title: "map and unmap",
    about: "Maps a cached file, reads one byte of every page, and unmaps it. Looking up the file's length is \
            included. The file was written page by page, or by large writes, whose pages the system may keep and map \
            together.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "mapping"),
    class: Class::Fault,
    stresses: &[Primitive::AddressSpace, Primitive::PageFault],
    sources: &[DefinitionSource::new("lmbench", "lat_mmap", "McVoy & Staelin, USENIX ATC 1996").other(TOUCHED)],
    parameters: &[Parameter::choice("size", &["64KiB", "1MiB", "16MiB", "64MiB"], &["1MiB"]), LAID],
    prepare,
    ..Benchmark::BLANK
};

/// What the source touches.
const TOUCHED: &str = "the source touches every fourth page of the first tenth of the file";

/// How a file was laid.
const LAID: Parameter = Parameter::choice("laid", &["at_once", "by_page"], &["at_once"]);

struct MapKernel {
    file: File,
    _files: Rc<Scratch>,
    sum: u64,
}

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let (file, files) = numbered(context, at.bytes("size")?, at.choice("laid")? == "by_page")?;
    let pages = at.bytes("size")? / kernels::memory::page_size() as u64;
    Ok(Trial::one(MapKernel { file, _files: files, sum: (0..pages).map(mark).fold(0, u64::wrapping_add) }))
}

/// The first byte of a page of [`numbered`].
pub(super) fn mark(page: u64) -> u64 {
    page * 7 % 251 + 1
}

/// Bytes of one write: more than the largest folio of a page cache, and little to be filled first.
const AT_ONCE: u64 = 4 * MIB;

/// A cached file with a mark at the beginning of every page, written page by page or in large writes. Large writes let
/// the kernel keep and map its pages in larger units (folios).
pub(super) fn numbered(
    context: &mut BenchmarkContext,
    bytes: u64,
    by_page: bool,
) -> Result<(File, Rc<Scratch>), Unsupported> {
    require_memory(bytes)?;
    require_length(bytes)?;
    place::require_space(context.directory(), bytes)?;
    let files = context.scratch()?;
    let path = files.path().join("pages");
    let mut file = File::options().read(true).write(true).create_new(true).open(path)?;
    let size = kernels::memory::page_size();
    let pages = bytes / size as u64;
    let at_once = if by_page { 1 } else { (AT_ONCE / size as u64).max(1) };
    let mut piece = vec![0; at_once as usize * size];
    for first in (0..pages).step_by(at_once as usize) {
        let length = at_once.min(pages - first) as usize * size;
        for (number, page) in (first..).zip(piece[..length].chunks_mut(size)) {
            page[0] = mark(number) as u8;
        }
        file.write_all(&piece[..length])?;
    }
    Ok((file, files))
}

impl Kernel for MapKernel {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let mut token = 0_u64;
        for _ in 0..ops {
            token = token.wrapping_add(FileMap::new(&self.file)?.touch_pages().0);
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        BenchmarkError::unless_equal(done.token, self.sum.wrapping_mul(done.ops))
    }
}
