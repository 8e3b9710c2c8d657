//! file: figures of this family.

mod cached;
mod create;
mod delete;
mod folders;
mod place;
mod read_cached;

use crate::Probe;

/// In the order of reports.
pub(crate) static TABLE: &[&Probe] = &[&create::PROBE, &delete::PROBE, &read_cached::PROBE];
