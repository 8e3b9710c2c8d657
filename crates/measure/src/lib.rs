//! How Prony measures: a plan becomes launches, launches become estimates, estimates a run document.
//!
//! The measuring path never prints. It tells [`MeasureEvent`]s; progress bar, log and JSON stream are listeners.
//! Launches run through an [`Engine`]: fresh processes in earnest, a seeded simulation in tests.
#![forbid(unsafe_code)]

mod calibrate;
mod doctor;
mod document;
mod duration;
mod engine;
mod error;
mod event;
mod evidence;
mod expand;
mod facts;
mod helper;
mod judge;
mod outside;
mod pairs;
mod placement;
mod references;
mod seed;
mod separate;
mod session;
mod sizing;
mod step;
mod tails;
mod worker;

pub use doctor::{Check, Health, doctor};
pub use document::{began_at, begin, close};
pub use duration::expected_seconds;
pub use engine::{Engine, EngineError, MockEngine, MockFigure, ProcessEngine, Stopper};
pub use error::Error;
pub use event::{MeasureEvent, NullObserver, Observer};
pub use evidence::{may_exclude, stolen_too_much, throttled_too_much};
pub use expand::select;
pub use facts::{identity, identity_of, machine, notes, part_of_the_cpus};
pub use judge::{end_follower, judge};
pub use outside::{ConditionsWatch, OutsideCounters};
pub use placement::{place, refuse_more_threads_than_cpus};
pub use separate::separate_cores;
pub use session::{EndReason, MeasureSession, RunRequest, RunResult, Saver};
pub use step::{Purpose, ReferenceSetting, Reply, Task, WorkerStep};
pub use worker::serve;
