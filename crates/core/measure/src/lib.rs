//! How Prony measures: a plan becomes samples, samples become estimates, estimates a run document.
//!
//! The measuring path never prints. It sends [`MeasureEvent`]s to listeners: progress bar, log and JSON stream. Samples
//! are made by a [`Subject`]: fresh processes in earnest, a seeded simulation in tests.
#![forbid(unsafe_code)]

mod decide;
mod doctor;
mod document;
mod duration;
mod error;
mod event;
mod expand;
mod facts;
mod outside;
mod placement;
mod quality;
mod schedule;
mod seed;
mod separate;
mod session;
mod sizing;
mod subject;
mod worker;

pub use decide::end_follower;
pub use doctor::{Check, Health, doctor};
pub use document::{began_at, begin, close};
pub use duration::expected_seconds;
pub use error::Error;
pub use event::{MeasureEvent, NullObserver, Observer};
pub use expand::select;
pub use facts::{identity, identity_of, machine, notes, part_of_the_cpus};
pub use outside::{ConditionsWatch, OutsideCounters};
pub use placement::{place, refuse_more_threads_than_cpus};
pub use quality::{may_exclude, stolen_too_much, throttled_too_much};
pub use separate::separate_cores;
pub use session::{EndReason, MeasureSession, RunRequest, RunResult, Saver, judge};
pub use subject::{Description, Host, MockResult, MockSubject, SampleError, Stopper, Subject, Workers};
pub use worker::{Purpose, Reply, SensorSetting, Task, WorkerStep, serve};
