//! ipc: figures of this family.

use crate::Probe;

pub(crate) static TABLE: &[&Probe] = &[];
