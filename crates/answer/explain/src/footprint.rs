//! Operations of a test in units that other tests measure.
//!
//! Counts come from the measured footprint, or else from the catalogue's declaration. For a published table without
//! footprints, using the declaration is an assumption and reported as one.

use model::{BenchmarkResult, Operation, Primitive};

/// Units of other primitives in one operation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uses {
    pub(crate) counts: Vec<(Primitive, f64)>,
    /// Whether any count was measured rather than declared.
    pub(crate) measured: bool,
}

impl Uses {
    /// The units of a result: measured counts replace declared ones.
    pub(crate) fn of(result: &BenchmarkResult, declared: Option<&Operation>) -> Self {
        let mut uses = Self { counts: declared.map(|d| d.uses.to_vec()).unwrap_or_default(), measured: false };
        let footprint = &result.footprint;
        if footprint.operations == 0 {
            return uses;
        }
        let operations = footprint.operations as f64;
        let mut set = |primitive: Primitive, count: Option<u64>| {
            if let Some(count) = count {
                uses.counts.retain(|(known, _)| *known != primitive);
                uses.counts.push((primitive, count as f64 / operations));
                uses.measured = true;
            }
        };
        let switches = match (footprint.voluntary_switches, footprint.involuntary_switches) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        set(Primitive::ContextSwitch, switches);
        set(Primitive::PageFault, footprint.minor_faults);
        set(Primitive::Fork, footprint.forks);
        uses
    }

    /// How often it uses a primitive, if known or declared.
    pub(crate) fn count(&self, primitive: Primitive) -> Option<f64> {
        self.counts.iter().find(|(known, _)| *known == primitive).map(|(_, count)| *count)
    }
}
