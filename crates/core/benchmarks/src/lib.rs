//! The catalogue: everything that can be measured, one file per benchmark.
//!
//! A benchmark is one literal ([`Benchmark`]) and a [`Kernel`]. It is named on two lines of its family's `mod.rs`: the
//! `mod` line and the family's table. Everything else (lists, reference, suites, completion, tables) is derived from
//! the literal.
#![forbid(unsafe_code)]

mod benchmark;
mod catalogue;
mod context;
mod echo;
mod kernel;
mod line;
mod parameter;
mod peer_process;
mod peer_thread;
mod programs;
mod published;
mod room;
mod rpc;
mod scratch;
mod stream;
mod suite;
mod team;
mod tool;
mod trials;

mod cpu;
mod file;
mod gpu;
mod ipc;
mod memory;
mod os;
mod shell;

pub use benchmark::{BatchRule, Benchmark, BenchmarkMetric, DefinitionSource, Parties, Shares};
pub use catalogue::{BenchmarkFamily, FAMILIES, all, catalogue, describe, find};
pub use context::{BenchmarkContext, SampleSetting, WatchedParty};
pub use kernel::{BatchWork, BenchmarkError, DeclaredCost, Kernel, Readings, Recorder, Trial, Unsupported};
pub use parameter::{EACH, Parameter, ThreadCount, Values};
pub use scratch::{Scratch, remove_abandoned, remove_scratch, tmpfs};
pub use suite::{BenchmarkSelection, LONGEST_SUITE, SUITES, Suite, suite};

/// The imports of every benchmark's file.
mod prelude {
    pub(crate) use std::rc::Rc;

    pub(crate) use model::{Class, GIB, KIB, MIB, Operation, Parameters, PartLimit, Primitive, Unit};

    pub(crate) use crate::{
        BatchRule, BatchWork, Benchmark, BenchmarkContext, BenchmarkError, BenchmarkMetric, DeclaredCost,
        DefinitionSource, Kernel, Parameter, Parties, Readings, Recorder, Trial, Unsupported,
    };
}
