//! Messages of the nodes of a fleet, and how each of them ended.

use model::Run;

use super::message::NodeEnd;
use crate::agent::Hello;

/// Result of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeState {
    /// It measured.
    Measured(NodeEnd),
    /// It started and was lost; the cause.
    Lost(String),
    /// It never started; the cause.
    Missing(String),
}

/// An event of the fleet, for progress and saving.
#[derive(Debug)]
pub enum Heard<'a> {
    /// A node has started.
    Here(&'a Hello),
    /// A node reports progress.
    Doing {
        /// Its name.
        node: &'a str,
        /// Completed results.
        done: usize,
        /// All its results.
        of: usize,
        /// A description.
        what: &'a str,
    },
    /// A node sends nothing, not even signs of life.
    Silent {
        /// Its name.
        node: &'a str,
        /// Since then, seconds.
        seconds: u64,
        /// When it is lost, seconds.
        lost_at: u64,
    },
    /// A node sent its document, final or intermediate, which is to be saved.
    Saved {
        /// Its name.
        node: &'a str,
        /// The document.
        run: &'a Run,
    },
    /// A node has ended, successfully or not.
    Over {
        /// Its name.
        node: &'a str,
        /// The result.
        state: &'a NodeState,
    },
}
