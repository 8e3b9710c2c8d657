//! memcpy of the C library.

use super::copying;
use crate::prelude::*;

pub(super) static PROBE: Probe = Probe {
    id: "memory.memcpy",
    title: "memcpy of the C library",
    about: "Copies memory by the C library's memcpy, called so that no compiler can replace it. Bytes count once, as copied. The working set is source and destination together; they are walked in pieces of 1 MiB.",
    metric: ProbeMetric::higher(Unit::BytesPerSecond, "bytes copied"),
    class: Class::Bandwidth,
    stresses: &[Primitive::DramRead, Primitive::DramWrite],
    sources: &[
        DefinitionSource::new("lmbench", "bw_mem cp", "L. McVoy and C. Staelin, USENIX ATC 1996"),
        DefinitionSource::new("BaBar", "table 1, memcpy (libc)", "T. Pavel, CHEP 98"),
    ],
    axes: &[Axis::doubling("working_set", KIB, GIB, &["256MiB"]).of_memory()],
    shares: Some(super::arrays::SHARES),
    prepare: |at, context| copying::prepare(sys::kernel::copy::memcpy_library, at, context),
    ..Probe::BLANK
};
