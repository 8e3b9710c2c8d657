//! shell: probes of this family.

mod compile;
mod dc;
mod script;

use crate::Probe;

/// In the order of reports.
pub(crate) static TABLE: &[&Probe] = &[&script::PROBE, &compile::PROBE, &dc::PROBE];
