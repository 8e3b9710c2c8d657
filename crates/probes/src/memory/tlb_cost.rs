//! Time that address translation adds to a load.

use sys::kernel::ring::ChasePattern;
use sys::memory::{huge_page_size, page_size};

use super::chase::Chase;
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "memory.tlb_cost",
    title: "TLB cost",
    about: "What a dependent load costs more when each goes to another page: a chain that takes one line of every page, pages in \
            random order, paired with a chain that visits all lines of a page, in random order, before the next page. Both \
            visit every line of a working set of their own once a lap, a small one on up to 24 sets of pages in turn. In a set that a near cache holds the difference is the \
            TLB's; in larger ones it also holds what prefetchers and open DRAM rows save the second chain.",
    metric: ProbeMetric::lower(Unit::Seconds, "load"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::Tlb],
    sources: &[DefinitionSource::new("lmbench", "tlb", "C. Staelin, lmbench 3")],
    axes: &[
        Axis::doubling("working_set", 64 * KIB, 256 * MIB, &["512KiB"]),
        Axis::choice("pages", &["base", "huge"], &["base"]),
    ],
    paired: true,
    // There must be several huge pages.
    skips: |at| at.get("pages") == Some("huge") && at.bytes("working_set").is_ok_and(|bytes| bytes < 8 * MIB),
    prepare: |at, context| {
        let bytes = at.bytes("working_set")?;
        let page = if at.get("pages") == Some("huge") { huge_page_size() } else { page_size() } as u64;
        let random = Chase::new(at, bytes, ChasePattern::PageRandom(page), context)?;
        let local = Chase::new(at, bytes, ChasePattern::PageLocal(page), context)?;
        Ok(Trial::paired(random.alternated(), local.alternated()))
    },
    ..Probe::BLANK
};
