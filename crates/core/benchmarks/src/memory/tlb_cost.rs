//! Time that address translation adds to a load.

use kernels::memory::{huge_page_size, page_size};
use kernels::ring::ChasePattern;

use super::chase::Chase;
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.tlb_cost",
    title: "TLB cost",
    about: "What a dependent load costs more when each goes to another page: a chain that takes one line of every page, pages in \
            random order, paired with a chain that visits all lines of a page, in random order, before the next page. Both \
            visit every line of a working set of their own once a lap, a small one on up to 24 sets of pages in turn. The difference is what address translation takes, \
            and what prefetchers and open DRAM rows save the second chain: a set of fewer pages than the first TLB holds shows \
            the latter alone.",
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
const ONE_LINE: &str = "the source touches one line of each page, and subtracts as many that lie together";
