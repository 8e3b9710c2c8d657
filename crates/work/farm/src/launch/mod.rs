//! Starts pilots on nodes and watches them.

mod processes;
mod slurm;

pub use processes::Processes;
pub use slurm::SlurmPilots;

use crate::Result;
use crate::pilot::PilotConfig;

/// A pilot that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disconnected {
    /// Its node, counted from 0.
    pub node: usize,
    /// The last line that the pilot or its launcher printed.
    pub said: String,
}

/// Where pilots run. The configuration goes through the launcher's channel to the pilot's standard input.
pub trait PilotLauncher {
    /// Name of a node, used until its pilot sends its own; empty where only the pilot knows it.
    fn name(&self, node: usize) -> String;

    /// Starts the pilot of a node, counted from 0. Returns a detail for the incident log.
    ///
    /// # Errors
    /// When the pilot cannot be started.
    fn start(&mut self, node: usize, config: &PilotConfig) -> Result<String>;

    /// Takes over a pilot that an earlier coordinator started; `said` is what [`PilotLauncher::start`] returned then.
    /// Only launchers whose pilots outlive their coordinator, such as batch jobs, can do that.
    fn adopt(&mut self, _node: usize, _said: &str) {}

    /// Whether a pilot is known to run or to wait in a queue.
    fn is_there(&self, _node: usize) -> bool {
        false
    }

    /// Ends the pilot of a node. Returns the last line that it or its launcher printed; `None` if a pilot waits in a
    /// queue or does not exist.
    fn end_one(&mut self, _node: usize) -> Option<String> {
        None
    }

    /// Pilots that ended since the last call.
    fn look(&mut self) -> Vec<Disconnected>;

    /// Ends all remaining pilots. Returns what could not be ended, each with the command that will.
    fn end(&mut self) -> Vec<String>;
}
