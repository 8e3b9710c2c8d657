//! A fleet: every node against the others of its kind.

use model::Run;
use serde::{Deserialize, Serialize};

use crate::expectation::MachineKind;
use crate::judge::{CheckContext, check, check_among};
use crate::result::{CheckRow, CheckVerdict, MachineCheck};

/// A part of a node that is low.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetFinding {
    /// Name of the node; empty if most nodes share the finding.
    pub node: String,
    /// The low part.
    pub part: String,
    /// The finding in words.
    pub says: String,
}

/// The answer for one machine or many.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetCheck {
    /// Every node.
    pub nodes: Vec<MachineCheck>,
    /// What is low, by node.
    pub findings: Vec<FleetFinding>,
    /// What is low on more than half of the nodes: it names none.
    pub shared: Vec<FleetFinding>,
    /// Nodes with a finding of their own, for a drain script.
    pub drain: Vec<String>,
}

/// Checks every node against the others; `names` are those of the nodes, in the order of the runs.
#[must_use]
pub fn check_fleet(runs: &[&Run], names: &[String], context: &CheckContext<'_>) -> FleetCheck {
    let kinds: Vec<Option<MachineKind>> = runs.iter().map(|run| MachineKind::of(&run.machine)).collect();
    let mut nodes = Vec::with_capacity(runs.len());
    for (at, run) in runs.iter().enumerate() {
        let is_peer = |other: &usize| {
            *other != at && kinds[at].as_ref().zip(kinds[*other].as_ref()).is_some_and(|(own, other)| own.is(other))
        };
        let others: Vec<&Run> = (0..runs.len()).filter(is_peer).map(|other| runs[other]).collect();
        // One machine has the peers of elsewhere.
        let found = if runs.len() == 1 { check(run, context) } else { check_among(run, &others, context) };
        nodes.push(MachineCheck { machine: names.get(at).cloned().unwrap_or_default(), ..found });
    }
    let is_shared = |row: &CheckRow| {
        let count = nodes.iter().filter(|node| node.low().any(|other| other.id == row.id)).count();
        nodes.len() > 2 && 2 * count > nodes.len()
    };
    let (mut findings, mut shared): (Vec<FleetFinding>, Vec<FleetFinding>) = (Vec::new(), Vec::new());
    for node in &nodes {
        for row in node.low() {
            let finding = FleetFinding { node: node.machine.clone(), part: row.title.clone(), says: says(row) };
            if !is_shared(row) {
                findings.push(finding);
            } else if shared.iter().all(|known| known.part != finding.part) {
                shared.push(FleetFinding { node: String::new(), ..finding });
            }
        }
    }
    let mut drain: Vec<String> = findings.iter().map(|finding| finding.node.clone()).collect();
    drain.dedup();
    FleetCheck { nodes, findings, shared, drain }
}

/// A low row in words: how far it is below its range, and why.
fn says(row: &CheckRow) -> String {
    let factor = row.value.zip(row.expected.as_ref()).map(|(value, range)| {
        if value.value > range.high { value.value / range.high } else { range.low / value.value }
    });
    let far = factor
        .map_or_else(|| format!("{} of {}", row.found, row.wanted), |factor| format!("{factor:.2}x beyond the range"));
    match row.causes.first() {
        Some(cause) => format!("{far}; {}: {}", cause.because, cause.cure),
        None => far,
    }
}

impl FleetCheck {
    /// Whether anything is low.
    #[must_use]
    pub fn is_low(&self) -> bool {
        self.nodes.iter().flat_map(|node| &node.rows).any(|row| row.verdict == CheckVerdict::Low)
    }

    /// Whether any row of any node was judged.
    #[must_use]
    pub fn says_anything(&self) -> bool {
        self.nodes.iter().any(MachineCheck::says_anything)
    }
}
