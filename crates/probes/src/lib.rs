//! The catalogue: everything that can be measured, one file per probe.
//!
//! A probe is one literal ([`Probe`]) and a [`Kernel`]. It is named on two lines of its family's `mod.rs`: the `mod`
//! line and the family's table. Everything else (lists, reference, suites, completion, tables) is derived from the
//! literal.
#![forbid(unsafe_code)]

mod axis;
mod catalogue;
mod context;
mod echo;
mod kernel;
mod line;
mod peer_process;
mod peer_thread;
mod probe;
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
mod ipc;
mod memory;
mod os;
mod shell;

pub use axis::{Axis, EACH, ThreadCount, Values};
pub use catalogue::{FAMILIES, ProbeFamily, all, catalogue, describe, find};
pub use context::{LaunchSetting, ProbeContext, WatchedParty};
pub use kernel::{BatchWork, DeclaredCost, Kernel, ProbeError, Readings, Recorder, Trial, Unsupported};
pub use probe::{BatchRule, DefinitionSource, Parties, Probe, ProbeMetric, Shares};
pub use scratch::{Scratch, remove_abandoned, remove_scratch, tmpfs};
pub use suite::{LONGEST_SUITE, ProbeSelection, SUITES, Suite, suite};

/// The imports of every probe's file.
mod prelude {
    pub(crate) use std::rc::Rc;

    pub(crate) use model::{Class, GIB, KIB, MIB, Operation, Point, Primitive, Unit};

    pub(crate) use crate::{
        Axis, BatchRule, BatchWork, DeclaredCost, DefinitionSource, Kernel, Parties, Probe, ProbeContext, ProbeError,
        ProbeMetric, Readings, Recorder, Trial, Unsupported,
    };
}
