//! Applications: a manifest says how to build, run, count and verify; runs are documents like those of any probe.
//!
//! Nothing goes through a shell. One fresh helper process a launch starts all copies together, so that what a launch used
//! is exactly known and a hung or crashed program touches nothing else.
#![forbid(unsafe_code)]

mod best;
mod build;
mod campaign;
mod error;
mod fit;
mod launch;
mod manifest;
mod sessions;

pub use best::{Best, best};
pub use build::{Build, Builder, Built, matrix, said};
pub use campaign::{Campaign, CampaignOrder, Subject, document};
pub use error::Error;
pub use fit::{Against, FitResidual, FitScatter, GroupFit, Pair, fit, pairs};
pub use launch::{Copy, CopyReport, LaunchSpec, ProcessEnd, Starter, perform, serve};
pub use manifest::{Application, BUILTIN, DigestScope, Manifest, ManifestWork, Rate, TEMPLATE, Template, Verify};
pub use sessions::{
    FileSharing, SessionOrder, SessionReport, SessionUse, SessionsVerdict, read_files, run_sessions, session_run,
};
