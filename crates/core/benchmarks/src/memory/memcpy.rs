//! memcpy of the C library.

use super::copying::{self, PieceLength};
use crate::prelude::*;

pub(super) static BENCHMARK: Benchmark = Benchmark {
    id: "memory.memcpy",
    title: "memcpy of the C library",
    about: "Copies memory with the C library's memcpy, called so that no compiler can replace it. Bytes count once, \
            as copied. The working set is source and destination together. With `piece=whole` one call copies all. \
            With `1MiB` there is one call for each MiB, which may keep the library off its path for large copies.",
    metric: BenchmarkMetric::higher(Unit::BytesPerSecond, "bytes copied"),
    class: Class::Bandwidth,
    stresses: &[Primitive::DramRead, Primitive::DramWrite],
    sources: &[
        DefinitionSource::new("lmbench", "bw_mem bcopy", "L. McVoy and C. Staelin, USENIX ATC 1996").at("piece=whole"),
        DefinitionSource::new("lmbench", "bw_mem bcopy", "L. McVoy and C. Staelin, USENIX ATC 1996").other(PIECES),
        DefinitionSource::new("BaBar", "table 1, memcpy (libc)", "T. Pavel, CHEP 98").at("piece=whole"),
        DefinitionSource::new("BaBar", "table 1, memcpy (libc)", "T. Pavel, CHEP 98").other(PIECES),
    ],
    parameters: &[
        Parameter::doubling("working_set", KIB, GIB, &["256MiB"]).of_memory(),
        Parameter::choice("piece", &["whole", "1MiB"], &["whole"]),
    ],
    // A working set up to one piece is one call in any case.
    skips: |at| at.get("piece") == Some("1MiB") && at.bytes("working_set").is_ok_and(|bytes| bytes <= 2 * MIB),
    shares: Some(super::arrays::SHARES),
    prepare: |at, context| {
        let piece = if at.choice("piece")? == "whole" { PieceLength::Whole } else { PieceLength::Exact };
        copying::prepare(kernels::copy::memcpy_library, piece, at, context)
    },
    ..Benchmark::BLANK
};

const PIECES: &str = "copied by calls of 1 MiB each";
