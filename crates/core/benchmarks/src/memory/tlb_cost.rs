//! Time that address translation adds to a load.

use kernels::memory::{huge_page_size, page_size};
use kernels::ring::ChasePattern;

use super::chase::Chase;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.tlb_cost",
    title: "TLB cost",
    about: "The extra time of a dependent load that goes to another page. The first chain takes one line of every \
            page, pages in random order, and then the next lines. The second visits all lines of a page, in random \
            order, before the next page; its time is subtracted. Each chain visits every line of its own working set \
            once a lap. Small sets use up to 24 sets of pages in turn. The difference is the cost of address \
            translation, plus what prefetchers and open DRAM rows save the second chain. If the first TLB holds all \
            pages, only these savings remain.",
    metric: BenchmarkMetric::lower(Unit::Seconds, "load"),
    class: Class::MemoryLatency,
    stresses: &[Primitive::Tlb],
    usual: true,
    sources: &[DefinitionSource::new("lmbench", "tlb", "C. Staelin, lmbench 3").other(ONE_LINE)],
    parameters: &[
        Parameter::doubling("working_set", 64 * KIB, 256 * MIB, &["512KiB"]),
        Parameter::choice("pages", &["base", "huge"], &["base"]),
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
    ..Benchmark::BLANK
};

/// With 128 pages an L1 TLB of 64 entries costs 2.2 ns a miss by the source's way, and 4.4 to 5.4 by this one. With 16
/// to 64 pages this one gives 1.3 ns, on pages of any size.
const ONE_LINE: &str = "the source touches one line of each page, and subtracts as many adjacent lines";
