//! Who starts agents: each is a node that hears JSON lines on its input and says JSON lines on its output.

mod local;
mod process;
pub mod slurm;
mod ssh;

use std::io::{BufRead, Write};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use local::Local;
pub use slurm::SlurmLauncher;
pub use ssh::{Ssh, quoted};

use crate::hello::Hello;
use crate::{Error, Result};

/// A node that does not take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingNode {
    /// Its name.
    pub node: String,
    /// Why, in the words of whoever knows.
    pub reason: String,
}

/// The last words of a process on its standard error, as far as they were heard.
#[derive(Debug, Clone, Default)]
pub struct LastWords(Arc<Mutex<Vec<u8>>>);

/// What is kept of them.
const LAST_WORDS: usize = 2000;

impl LastWords {
    fn hear(&self, piece: &[u8]) {
        let mut words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend_from_slice(piece);
        let excess = words.len().saturating_sub(LAST_WORDS);
        words.drain(..excess);
    }

    /// The last lines that say something, joined.
    #[must_use]
    pub fn text(&self) -> String {
        let words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&words);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(3)..].join("; ")
    }
}

/// A line to an agent that was started. When it is dropped, the agent's input ends, and with it the agent.
pub struct Link {
    /// What to call the agent in messages.
    pub name: String,
    /// What it says.
    pub output: Box<dyn BufRead + Send>,
    /// What it hears.
    pub input: Box<dyn Write + Send>,
    /// What it or its launcher complained of.
    pub words: LastWords,
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

    /// What to call a node, whether it could be started or not.
    fn name(&self, node: usize) -> String {
        format!("node {node}")
    }

    /// The address that the node is to use for data: what it says itself, where nobody knows better.
    fn address(&self, _node: usize, hello: &Hello) -> IpAddr {
        hello.address
    }

    /// The CPU that the node is to stay on.
    fn cpu(&self, _node: usize) -> Option<usize> {
        None
    }

    /// How long a node may take to come up.
    fn patience(&self) -> Duration {
        Duration::from_secs(40)
    }

    /// Why a node that was started is not there, in the words of whoever knows best.
    fn why_missing(&self, _node: usize, link: &Link, error: &Error) -> String {
        // What a process says when it ends comes a moment after its end of output.
        std::thread::sleep(Duration::from_millis(50));
        let words = link.words.text();
        if words.is_empty() { error.to_string() } else { words }
    }
}
