//! Starting pilots on nodes, and seeing them end.

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
    /// The last that it or its launcher said.
    pub said: String,
}

/// Where pilots run. The order goes through the launcher's channel to the standard input of the pilot.
pub trait PilotLauncher {
    /// What a node is called before its pilot says so itself; empty where only the pilot will know.
    fn name(&self, node: usize) -> String;

    /// Starts the pilot of a node, counted from 0. What the story should say of it.
    ///
    /// # Errors
    /// When it cannot be started.
    fn start(&mut self, node: usize, order: &PilotConfig) -> Result<String>;

    /// Takes over a pilot that an earlier coordinator started; `said` is what [`PilotLauncher::start`] gave then. Only launchers
    /// whose pilots outlive their coordinator in somebody else's care can.
    fn adopt(&mut self, _node: usize, _said: &str) {}

    /// Whether a pilot is known to be there, or on its way.
    fn is_there(&self, _node: usize) -> bool {
        false
    }

    /// Pilots that ended since the last look.
    fn look(&mut self) -> Vec<Disconnected>;

    /// Ends all pilots that are still there.
    fn end(&mut self);
}
