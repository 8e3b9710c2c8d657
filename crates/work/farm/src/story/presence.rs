//! How long pilots were connected, and how many at one time.

use std::collections::BTreeMap;

use crate::ledger::Incident;

/// Connections in the event log.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Presence {
    /// Seconds that pilots were connected, summed over all slots.
    pub(super) seconds: f64,
    /// Slots at one time, at most.
    pub(super) most: usize,
}

impl Presence {
    /// From `joined` to `left` of each pilot, or to the end of the run.
    pub(super) fn of(incidents: &[Incident], end: f64) -> Self {
        let mut here: BTreeMap<&str, f64> = BTreeMap::new();
        let mut found = Self::default();
        for one in incidents {
            match one.what.as_str() {
                "joined" => {
                    here.insert(&one.detail, one.since);
                    found.most = found.most.max(here.len());
                }
                "left" => {
                    // PILOT: reason
                    let since = one.detail.split_once(": ").and_then(|(pilot, _)| here.remove(pilot));
                    found.seconds += since.map_or(0.0, |since| (one.since.min(end) - since).max(0.0));
                }
                // A coordinator that died could not record which pilots left.
                "resumed" => {
                    let left = std::mem::take(&mut here).into_values();
                    found.seconds += left.map(|since| (one.since.min(end) - since).max(0.0)).sum::<f64>();
                }
                _ => {}
            }
        }
        found.seconds += here.into_values().map(|since| (end - since).max(0.0)).sum::<f64>();
        found
    }
}
