//! Launchers of agents on other nodes: processes of this one, over SSH, by Slurm. Each agent receives JSON lines on its
//! input and sends JSON lines on its output.
#![forbid(unsafe_code)]

pub mod agent;
mod error;
mod hello;
pub mod line;
mod local;
mod process;
pub mod slurm;
mod ssh;
pub mod suite;

use std::io::{BufRead, Write};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use error::{Error, Result};
pub use local::Local;
pub use slurm::SlurmLauncher;
pub use ssh::Ssh;

use crate::hello::Hello;

/// A node that does not take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingNode {
    /// Its name.
    pub node: String,
    /// The cause, as precise as known.
    pub reason: String,
}

/// The end of a process's standard error.
#[derive(Debug, Clone, Default)]
pub struct StderrTail(Arc<Mutex<Vec<u8>>>);

/// Bytes kept.
const KEPT: usize = 2000;

impl StderrTail {
    fn append(&self, piece: &[u8]) {
        let mut words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend_from_slice(piece);
        let excess = words.len().saturating_sub(KEPT);
        words.drain(..excess);
    }

    /// The last non-empty lines, joined.
    #[must_use]
    pub fn text(&self) -> String {
        let words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&words);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(3)..].join("; ")
    }
}

/// The connection to a started agent. Dropping it closes the agent's input, which ends the agent.
pub struct Link {
    /// Name of the agent in messages.
    pub name: String,
    /// Messages from it.
    pub output: Box<dyn BufRead + Send>,
    /// Messages to it.
    pub input: Box<dyn Write + Send>,
    /// Its standard error, or its launcher's.
    pub stderr: StderrTail,
    /// Values that must live as long as the agent.
    pub keep: Box<dyn Send>,
}

/// Starts agents.
pub trait Launcher {
    /// Starts the agent of a node, counted from 0.
    ///
    /// # Errors
    /// When it cannot be started.
    fn start(&mut self, node: usize) -> Result<Link>;

    /// Name of a node, also if it could not be started.
    fn name(&self, node: usize) -> String {
        format!("node {node}")
    }

    /// The node's address for data: the one that the agent reports, unless the launcher knows better.
    fn address(&self, _node: usize, hello: &Hello) -> IpAddr {
        hello.address
    }

    /// The CPU that the node is pinned to.
    fn cpu(&self, _node: usize) -> Option<usize> {
        None
    }

    /// Time limit for a node to start.
    fn patience(&self) -> Duration {
        Duration::from_secs(40)
    }

    /// Why a started node is missing, as precisely as known.
    fn why_missing(&self, _node: usize, link: &Link, error: &Error) -> String {
        // The last error output arrives shortly after the end of standard output.
        kernels::timer::sleep(Duration::from_millis(50));
        let words = link.stderr.text();
        if words.is_empty() { error.to_string() } else { words }
    }
}
