//! memcpy by an unrolled loop.

use super::copying;
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "memory.memcpy_unrolled",
    title: "memcpy by an unrolled loop",
    about: "Copies memory by an unrolled loop of 64-bit loads and stores, without any library. Bytes count once, as copied. The working set is source and destination together; they are walked in pieces of 1 MiB.",
    metric: ProbeMetric::higher(Unit::BytesPerSecond, "bytes copied"),
    class: Class::Bandwidth,
    stresses: &[Primitive::DramRead, Primitive::DramWrite],
    sources: &[
        DefinitionSource::new("lmbench", "bw_mem cp", "L. McVoy and C. Staelin, USENIX ATC 1996"),
        DefinitionSource::new("BaBar", "table 1, memcpy (unrolled)", "T. Pavel, CHEP 98"),
    ],
    axes: &[Axis::doubling("working_set", KIB, GIB, &["256MiB"]).of_memory()],
    shares: Some(super::arrays::SHARES),
    prepare: |at, context| copying::prepare(sys::kernel::copy::memcpy_unrolled, at, context),
    ..Probe::BLANK
};
