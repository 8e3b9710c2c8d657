//! How a run relates to the baseline.

use serde::{Deserialize, Serialize};

/// Relation of a run to the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// It is the reference.
    Reference,
    /// The same run as the reference, named twice: nothing can be tested.
    SameRun,
    /// Measured in the same session: no session noise applies.
    SameSession,
    /// The same machine in another session.
    AnotherSession,
    /// Another machine, and so another session.
    AnotherMachine,
}
