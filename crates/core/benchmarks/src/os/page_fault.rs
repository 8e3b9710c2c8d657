//! First access to a page.

use std::fs::File;

use kernels::memory::{Arena, FileMap, Pages, huge_page_size, page_size};
use os::usage::{Usage, Who};

use super::mmap::{mark, numbered};
use crate::Scratch;
use crate::line::{pipe, receive};
use crate::peer_process::PeerProcess;
use crate::prelude::*;
use crate::room::require_memory;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "os.page_fault",
    title: "page fault",
    about: "Touches missing pages: zeroed memory (anonymous, in base or huge pages), a cached file, or memory shared \
            with a forked child (copy on write). The time is divided by the faults that the kernel counted. A fault \
            on a cached file may bring several pages, and more if the file was written in large blocks than page by \
            page. One page of each fault is touched, because reading the others would take longer than the fault.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "fault"),
    class: Class::Fault,
    stresses: &[Primitive::PageFault],
    usual: true,
    sources: &[DefinitionSource::new("lmbench", "lat_pagefault", "McVoy & Staelin, USENIX ATC 1996").other(PAGES)],
    parameters: &[Parameter::choice(
        "kind",
        &["anonymous", "mapped_at_once", "mapped_by_page", "cow", "huge"],
        &["anonymous", "mapped_at_once", "cow"],
    )],
    prepare,
    ..Benchmark::BLANK
};

const PAGES: &str = "the source touches pages in random order and divides by them, this one by the counted faults";
const BYTES: u64 = 64 * MIB;
/// Mappings of the file: each can cause faults once before all are reset.
const MAPPINGS: usize = 8;

fn prepare(at: &Parameters, context: &mut BenchmarkContext) -> Result<Trial, Unsupported> {
    let kind = at.choice("kind")?;
    // Copied pages exist twice; a mapped file must stay in the page cache.
    require_memory(if kind == "cow" { 2 * BYTES } else { BYTES })?;
    let pages = match kind {
        "mapped_at_once" | "mapped_by_page" => {
            return Ok(Trial::one(Faults::new(MappedFile::new(context, kind == "mapped_by_page")?)));
        }
        "huge" => Pages::Huge,
        _ => Pages::Base,
    };
    // This finds out whether huge pages are available, and gives a child pages to share; batches allocate the others.
    let arena = match kind {
        "anonymous" => Arena::reserve(BYTES as usize, pages)?,
        _ => Arena::populated(BYTES as usize, pages)?,
    };
    Ok(match kind {
        "cow" => Trial::one(Faults::new(SharedPages { own: PrivatePages::new(arena), sharer: None })),
        _ => Trial::one(Faults::new(Zeroed(PrivatePages::new(arena)))),
    })
}

/// Pages that can be removed, and then accessed.
trait MissingPages {
    /// Removes all of them.
    fn forget(&mut self) -> Result<(), BenchmarkError>;
    /// Accesses pages until about `faults` faults occurred, or all are present. Returns the content read.
    fn touch(&mut self, faults: u64) -> u64;
    /// Pages accessed, and their expected content, read again.
    fn touched(&self) -> Result<(u64, u64), BenchmarkError>;
}

struct Faults<M> {
    missing: M,
    counted: u64,
}

impl<M: MissingPages> Faults<M> {
    fn new(missing: M) -> Self {
        Self { missing, counted: 0 }
    }
}

impl<M: MissingPages> Kernel for Faults<M> {
    fn ready(&mut self, _: u64) -> Result<(), BenchmarkError> {
        self.missing.forget()
    }

    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        let before = Usage::of(Who::Thread)?;
        let token = self.missing.touch(ops);
        self.counted = Usage::of(Who::Thread)?.since(&before).minor_faults;
        Ok(BatchWork { ops: self.counted, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let (pages, shown) = self.missing.touched()?;
        BenchmarkError::unless_equal((done.ops, done.token), (self.counted, shown))?;
        // A few additional faults are caused by the rest of this process.
        if self.counted == 0 || self.counted > pages + 16 {
            return Err(BenchmarkError::new(format!("{} faults were counted for {pages} pages", self.counted)));
        }
        Ok(())
    }
}

/// Private memory whose pages are written without being read before.
struct PrivatePages {
    arena: Arena,
    page: usize,
    /// The value that is written, which differs each time.
    value: u8,
    written: u64,
}

impl PrivatePages {
    fn new(arena: Arena) -> Self {
        let page = if arena.pages() == Pages::Huge { huge_page_size() } else { page_size() };
        Self { arena, page, value: 0, written: 0 }
    }

    fn write(&mut self, count: u64) -> u64 {
        self.value = self.value % 250 + 1;
        self.written = 0;
        for page in self.arena.bytes_mut().chunks_mut(self.page).take(count as usize) {
            page[0] = self.value;
            self.written += 1;
        }
        self.written
    }

    fn written(&self) -> Result<(u64, u64), BenchmarkError> {
        let pages = self.arena.bytes().chunks(self.page).take(self.written as usize);
        let kept = pages.filter(|page| page[0] == self.value).count() as u64;
        if self.arena.pages() == Pages::Huge {
            let huge = self.arena.huge_share()?.huge;
            if huge < self.written * self.page as u64 {
                return Err(BenchmarkError::new(format!(
                    "only {huge} bytes of {} huge pages are on huge pages",
                    self.written
                )));
            }
        }
        Ok((self.written, kept))
    }
}

/// Pages that the kernel clears first.
struct Zeroed(PrivatePages);

impl MissingPages for Zeroed {
    fn forget(&mut self) -> Result<(), BenchmarkError> {
        Ok(self.0.arena.discard()?)
    }

    fn touch(&mut self, faults: u64) -> u64 {
        self.0.write(faults)
    }

    fn touched(&self) -> Result<(u64, u64), BenchmarkError> {
        self.0.written()
    }
}

/// Pages shared with a forked child until they are written.
struct SharedPages {
    own: PrivatePages,
    sharer: Option<(PeerProcess, File)>,
}

impl MissingPages for SharedPages {
    fn forget(&mut self) -> Result<(), BenchmarkError> {
        self.sharer = None;
        let start = || -> Result<_, Unsupported> {
            let (far, near) = pipe()?;
            PeerProcess::fork(None, near, far, |far| receive(&far, &mut [0]).map(drop))
        };
        self.sharer = Some(start().map_err(|not_measured| BenchmarkError::new(not_measured.to_string()))?);
        Ok(())
    }

    fn touch(&mut self, faults: u64) -> u64 {
        self.own.write(faults)
    }

    fn touched(&self) -> Result<(u64, u64), BenchmarkError> {
        self.own.written()
    }
}

/// A cached file, mapped several times.
struct MappedFile {
    maps: Vec<FileMap>,
    _files: Rc<Scratch>,
    /// Pages whose first access causes a fault, in every mapping.
    faulting: Vec<usize>,
    touched: usize,
}

impl MappedFile {
    fn new(context: &mut BenchmarkContext, by_page: bool) -> Result<Self, Unsupported> {
        let (file, files) = numbered(context, BYTES, by_page)?;
        let maps = (0..MAPPINGS).map(|_| FileMap::new(&file)).collect::<Result<Vec<_>, _>>()?;
        let faulting = faulting(&maps[0])?;
        if faulting.is_empty() {
            return Err(Unsupported::new("touching a mapped file causes no faults on this file system"));
        }
        context
            .note(format!("one fault maps {:.0} pages", (BYTES / page_size() as u64) as f64 / faulting.len() as f64));
        Ok(Self { maps, _files: files, faulting, touched: 0 })
    }
}

/// Pages of an unmapped mapping whose first access causes a fault, because no earlier fault mapped them too. The page
/// cache's units decide which pages a fault maps, so they are the same in every mapping of the file.
fn faulting(map: &FileMap) -> Result<Vec<usize>, Unsupported> {
    let mut count = Usage::of(Who::Thread)?.minor_faults;
    let mut faulting = Vec::new();
    for page in 0..map.len().div_ceil(page_size()) {
        std::hint::black_box(map.touch_page(page));
        let now = Usage::of(Who::Thread)?.minor_faults;
        if now > count {
            faulting.push(page);
        }
        count = now;
    }
    Ok(faulting)
}

impl MissingPages for MappedFile {
    fn forget(&mut self) -> Result<(), BenchmarkError> {
        Ok(self.maps.iter_mut().try_for_each(FileMap::forget)?)
    }

    fn touch(&mut self, faults: u64) -> u64 {
        self.touched = (faults.div_ceil(self.faulting.len() as u64) as usize).min(self.maps.len());
        let touch = |map: &FileMap| self.faulting.iter().map(|page| u64::from(map.touch_page(*page))).sum::<u64>();
        self.maps[..self.touched].iter().map(touch).sum()
    }

    fn touched(&self) -> Result<(u64, u64), BenchmarkError> {
        let once: u64 = self.faulting.iter().map(|page| mark(*page as u64)).sum();
        Ok(((self.faulting.len() * self.touched) as u64, once * self.touched as u64))
    }
}
