//! Who starts agents: each is a node that hears JSON lines on its input and says JSON lines on its output.

mod lab;
mod local;

use std::io::{BufRead, Write};
use std::net::IpAddr;

pub use lab::LabLauncher;
pub use local::Local;

use crate::Result;

/// A line to an agent that was started. When it is dropped, the agent's input ends, and with it the agent.
pub struct Link {
    /// What to call the agent in messages.
    pub name: String,
    /// What it says.
    pub output: Box<dyn BufRead + Send>,
    /// What it hears.
    pub input: Box<dyn Write + Send>,
    /// What must live as long as the agent does.
    pub keep: Box<dyn Send>,
}

/// Starts agents.
pub trait Launcher {
    /// Starts the agent of a node, counted from 0.
    ///
    /// # Errors
    /// When it cannot be started.
    fn start(&mut self, node: usize) -> Result<Link>;

    /// The address that the node is to use for data.
    fn address(&self, node: usize) -> IpAddr;

    /// The CPU that the node is to stay on.
    fn cpu(&self, _node: usize) -> Option<usize> {
        None
    }
}
