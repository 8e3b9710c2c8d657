//! Applications: a manifest says how to build, run, count and verify them; runs are documents like those of any
//! benchmark.
//!
//! No command of a manifest goes through a shell; [`Timing`] times command lines, which may need one. A fresh helper
//! process for each sample starts all copies together, so that the resources of a sample are known exactly, and a hung
//! or crashed program affects nothing else.
#![forbid(unsafe_code)]

mod best;
mod build;
mod campaign;
mod error;
mod fit;
mod launch;
mod manifest;
mod pair;
mod path_bytes;
mod sessions;
mod timing;

pub use best::{Best, best};
pub use build::{Build, Builder, Built, matrix, said};
pub use campaign::{Campaign, CampaignOrder, EnergyReader, Subject, document};
pub use error::Error;
pub use fit::{Against, FitResidual, FitScatter, GroupFit, Pair, fit, pairs};
pub use launch::{CopyOutput, CopyReport, LaunchSpec, ProcessEnd, Starter, perform, serve};
pub use manifest::{Application, BUILTIN, DigestScope, Manifest, ManifestWork, Rate, TEMPLATE, Template, Verify};
pub use pair::SubjectPair;
pub use sessions::{
    FileSharing, SessionOrder, SessionReport, SessionUse, Sessions, SessionsVerdict, read_files, serve_sessions,
};
pub use timing::{
    AXIS, BURST_SPACING, BURSTS, BurstRule, COLD, CommandLine, FEWEST_SAMPLES, FOUND, MEMORY, RATIO, ShellChoice, TIME,
    TimedCommand, TimedGate, TimedPair, Timing, TimingOrder, build_pairs, confirmed, timed_gate, timed_pairs,
};
