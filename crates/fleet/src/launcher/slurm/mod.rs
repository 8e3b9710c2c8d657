//! Agents as Slurm's tasks: `srun` as a child process, one a node. No library of Slurm's is linked: its ABI differs from
//! site to site.

mod batch;
mod job;
mod node;
mod tool;

use std::net::IpAddr;
use std::process::Command;
use std::time::Duration;

pub use batch::{Batch, cancel, submit};
pub use job::{Job, jobs, parse_one_line, parse_queue};
pub use node::{Node, choose, nodes, parse_nodes, reason, reason_of, unknown};

use super::{Launcher, Link, process};
use crate::agent::{By, Hello};
use crate::{Error, Result};

/// What agents get from Slurm, each by a job of its own.
#[derive(Debug, Clone)]
pub struct Slurm {
    /// Names of nodes, as Slurm knows them, one agent each.
    pub nodes: Vec<String>,
    /// This program on the nodes.
    pub remote: String,
    /// Partition; `None`: the site's default.
    pub partition: Option<String>,
    /// Bound of every job. Without one, a job that hangs holds its node for ever.
    pub time_limit: Duration,
    /// Time that a job may wait for its node. Without it, `srun` waits for ever where no node is up.
    pub queue_limit: Duration,
    /// Options of the site, such as `--account=x`.
    pub options: Vec<String>,
    /// Interface whose address is used for data; `None`: the one that faces the driver.
    pub interface: Option<String>,
}

impl Slurm {
    /// The command that starts the agent of a node: all of that node for one task.
    ///
    /// # Errors
    /// When there is no such node.
    pub fn command(&self, node: usize) -> Result<Vec<String>> {
        let name = self.nodes.get(node).ok_or_else(|| {
            Error::Usage(format!("{} nodes of Slurm are chosen, and a {}th is needed", self.nodes.len(), node + 1))
        })?;
        let mut words: Vec<String> = ["srun", "--nodes=1", "--ntasks=1", "--exclusive", "--unbuffered", "--quiet"]
            .into_iter()
            .map(str::to_owned)
            .collect();
        // A lost node must not take the others' steps with it: what came from each is judged by itself.
        words.extend(["--no-kill".to_owned(), "--kill-on-bad-exit=0".to_owned()]);
        words.push(format!("--nodelist={name}"));
        words.push(format!("--job-name={JOB_NAME}"));
        words.push(format!("--time={}", minutes(self.time_limit)));
        words.push(format!("--immediate={}", self.queue_limit.as_secs().max(1)));
        words.extend(self.partition.iter().map(|partition| format!("--partition={partition}")));
        words.extend(self.options.iter().cloned());
        words.extend([self.remote.clone(), "agent".to_owned(), "--by".to_owned(), By::Slurm.word().to_owned()]);
        Ok(words)
    }
}

/// What our jobs are called in Slurm's lists.
pub const JOB_NAME: &str = "prony";

/// A time in Slurm's whole minutes, at least one.
pub(crate) fn minutes(time: Duration) -> u64 {
    time.as_secs().div_ceil(60).max(1)
}

impl Launcher for Slurm {
    fn start(&mut self, node: usize) -> Result<Link> {
        let words = self.command(node)?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        process::spawn(command, self.name(node))
    }

    fn name(&self, node: usize) -> String {
        self.nodes.get(node).cloned().unwrap_or_else(|| format!("node {node}"))
    }

    fn address(&self, _node: usize, hello: &Hello) -> IpAddr {
        self.interface.as_deref().and_then(|name| hello.address_of(name)).unwrap_or(hello.address)
    }

    fn patience(&self) -> Duration {
        self.queue_limit + Duration::from_secs(20)
    }

    fn why_missing(&self, node: usize, link: &Link, error: &Error) -> String {
        std::thread::sleep(Duration::from_millis(50));
        let words = link.words.text();
        let said = if words.is_empty() { error.to_string() } else { words };
        match reason(&self.name(node)) {
            Some(reason) => format!("{reason} ({said})"),
            None => said,
        }
    }
}
