//! Reading: a sum.

use sys::kernel::stream::StreamKind;

use super::{arrays, streaming};
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "memory.read",
    title: "read",
    about: "Adds up an array, through registers of one `width`: 64-bit integers, doubles, the widest vectors, or the best of a few variants. The working set is all arrays of all threads together; arrays are walked in pieces of 1 MiB.",
    metric: ProbeMetric::higher(Unit::BytesPerSecond, "bytes read"),
    class: Class::Bandwidth,
    stresses: &[Primitive::DramRead],
    sources: &[
        DefinitionSource::new("lmbench", "bw_mem rd", "L. McVoy and C. Staelin, USENIX ATC 1996"),
        DefinitionSource::new("RAMspeed", "reading", "R. Hollander and P. Bolotoff, RAMspeed"),
        DefinitionSource::new("BaBar", "table 1, memory read", "T. Pavel, CHEP 98"),
    ],
    axes: &[
        streaming::working_set(),
        Axis::threads(&["1", "all"]),
        Axis::choice("width", &["integer", "double", "vector", "best"], &["vector"]),
        streaming::pages(),
    ],
    parties: Parties::Threads,
    shares: Some(arrays::SHARES),
    prepare: |at, context| streaming::prepare(StreamKind::Read, at, context),
    ..Probe::BLANK
};
