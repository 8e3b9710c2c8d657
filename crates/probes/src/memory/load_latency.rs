//! How long one load takes when the next cannot start before it.

use sys::kernel::ring::{Order, Ring};
use sys::memory::Arena;

use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "memory.load_latency",
    title: "load latency",
    about: "Follows one random cycle of pointers through the working set, a line at a time, so that no load can start before \
            the one before it ended and no prefetcher can help. A batch is at least one full lap. The steps of the curve are the \
            cache levels; the slope after the last is address translation.",
    metric: Metric::lower(Unit::Seconds, "load"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::CacheLatency, Primitive::DramLatency, Primitive::Tlb],
    sources: &[
        Source::new("lmbench", "lat_mem_rd -t", "L. McVoy and C. Staelin, USENIX ATC 1996"),
        Source::new("multichase", "simple", "github.com/google/multichase"),
    ],
    axes: &[
        Axis::sizes("working_set", 4 * KIB, GIB, 4, &["32KiB", "1MiB", "64MiB"]),
        Axis::choice("pages", &["base", "huge"], &["base"]),
    ],
    // A huge page holds smaller sets whole, and nothing is learnt from most of it being unused.
    skips: |at| at.get("pages") == Some("huge") && at.bytes("working_set").is_ok_and(|bytes| bytes < 2 * MIB),
    prepare,
    ..Probe::BLANK
};

fn prepare(at: &Point, bench: &mut Bench) -> Result<Trial, Unfit> {
    let bytes = at.bytes("working_set")?;
    if bytes > sys::memory::available_bytes()? / 4 * 3 {
        return Err(Unfit::new("less memory than that is available"));
    }
    let mut arena = Arena::reserve(bytes as usize, at.choice("pages")?.parse()?)?;
    arena.populate();
    arena.verify_pages()?;
    let ring =
        Ring::new(arena, Order::Random, bench.seed()).ok_or_else(|| Unfit::new("it holds fewer than two lines"))?;
    let from = ring.position();
    Ok(Trial::one(LoadLatency { ring, from }))
}

struct LoadLatency {
    ring: Ring<Arena>,
    from: u64,
}

impl Kernel for LoadLatency {
    fn batch(&mut self, ops: u64) -> Result<Work, Fault> {
        self.from = self.ring.position();
        Ok(Work { ops, token: self.ring.chase(ops) })
    }

    fn check(&mut self, done: &Work) -> Result<(), Fault> {
        // Whole laps end where they began: a walk that goes on by a few steps each time is told apart by the last of them.
        Fault::unless_equal(Some(done.token), self.ring.position_after(self.from, done.ops))
    }

    fn granule(&self) -> u64 {
        self.ring.lap() + 1
    }

    fn declared(&self) -> Option<Declared> {
        Some(Declared { bytes_read: 8.0, bytes_written: 0.0, operations: 1.0 })
    }
}
