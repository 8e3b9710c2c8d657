//! Agents as Slurm tasks: one `srun` as a child process for each node. Slurm's library is not linked, since its ABI
//! differs between sites.

mod batch;
mod job;
mod node;
mod tool;

use std::net::IpAddr;
use std::process::Command;
use std::time::Duration;

pub use batch::{Batch, SubmittedId, cancel, cancelling, submit};
pub use job::{SlurmJob, jobs, parse_one_line};
pub use node::{SlurmNode, choose, nodes, parse_nodes, reason, reason_of, unknown};

use super::{Launcher, Link, process};
use crate::hello::{By, Hello};
use crate::{Error, Result};

/// Settings of agents under Slurm.
#[derive(Debug)]
pub struct SlurmLauncher {
    /// Names of the nodes as Slurm knows them, with one agent each.
    pub nodes: Vec<String>,
    /// Path of this program on the nodes.
    pub remote: String,
    /// Partition; `None`: the site's default.
    pub partition: Option<String>,
    /// Time limit of every job, so that a job that hangs does not hold its node for ever.
    pub time_limit: Duration,
    /// Time limit for a job to wait for its node; without it, `srun` waits for ever if no node is up.
    pub queue_limit: Duration,
    /// Options of the site, such as `--account=x`.
    pub options: Vec<String>,
    /// Interface whose address is used for data; `None`: the one towards the driver.
    pub interface: Option<String>,
    /// An allocation in which all agents are steps; `None`: each agent is a job of its own.
    pub held: Option<Held>,
}

impl SlurmLauncher {
    /// The command that starts the agent of a node, which gets the whole node.
    ///
    /// # Errors
    /// When there is no such node.
    pub fn command(&self, node: usize) -> Result<Vec<String>> {
        let name = self.nodes.get(node).ok_or_else(|| {
            Error::Usage(format!("{} nodes of Slurm are chosen, and a {}th is needed", self.nodes.len(), node + 1))
        })?;
        let mut words: Vec<String> =
            ["srun", "--nodes=1", "--ntasks=1", "--unbuffered", "--quiet"].into_iter().map(str::to_owned).collect();
        // A lost node must not end the steps of others: each is judged on its own.
        words.extend(["--no-kill".to_owned(), "--kill-on-bad-exit=0".to_owned()]);
        words.push(format!("--nodelist={name}"));
        match &self.held {
            // An agent that has just ended may still hold its CPUs when the next one starts.
            Some(held) => words.extend([format!("--jobid={}", held.job), "--overlap".to_owned()]),
            None => words.extend(self.of_a_job()),
        }
        words.extend([self.remote.clone(), "agent".to_owned(), "--by".to_owned(), By::Slurm.word().to_owned()]);
        Ok(words)
    }
}

impl SlurmLauncher {
    /// Options of a job: exclusive nodes, with limits on run time and waiting.
    fn of_a_job(&self) -> Vec<String> {
        let mut words = vec!["--exclusive".to_owned(), format!("--job-name={JOB_NAME}")];
        words.push(format!("--time={}", minutes(self.time_limit)));
        words.push(format!("--immediate={}", self.queue_limit.as_secs().max(1)));
        words.extend(self.partition.iter().map(|partition| format!("--partition={partition}")));
        words.extend(self.options.iter().cloned());
        words
    }

    /// Allocates all nodes at once, until the launcher is dropped. Restarted agents then need not wait in the queue
    /// each time, and no other job runs in between.
    ///
    /// # Errors
    /// When Slurm is missing or does not grant the nodes in time, with its message.
    pub fn hold(&mut self) -> Result<()> {
        let mut words = vec!["--no-shell".to_owned(), format!("--nodes={}", self.nodes.len())];
        words.push(format!("--nodelist={}", self.nodes.join(",")));
        words.push("--no-kill".to_owned());
        words.extend(self.of_a_job());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let patience = self.queue_limit + Duration::from_secs(20);
        let said = tool::complaint("salloc", &words, patience)?;
        let job =
            granted(&said).ok_or_else(|| Error::Protocol(format!("salloc printed no job number: {}", said.trim())))?;
        self.held = Some(Held { job, cluster: cluster_of(&self.options) });
        Ok(())
    }
}

/// Job number in the output of salloc: "salloc: Granted job allocation 12".
fn granted(said: &str) -> Option<u64> {
    said.lines().find_map(|line| line.split_once("Granted job allocation ")?.1.trim().parse().ok())
}

/// An allocation, which is released on drop.
#[derive(Debug)]
pub struct Held {
    job: u64,
    cluster: Option<String>,
}

/// The cluster that options of a site name, if it is one.
fn cluster_of(options: &[String]) -> Option<String> {
    let value = |option: &String| {
        ["--clusters=", "--cluster=", "-M"].iter().find_map(|name| option.strip_prefix(name)).map(str::to_owned)
    };
    options.iter().rev().find_map(value).filter(|name| !name.is_empty() && !name.contains(','))
}

impl Drop for Held {
    fn drop(&mut self) {
        // If Slurm does not answer, the time limit releases the nodes.
        let _ = cancel(&[SubmittedId { number: self.job, cluster: self.cluster.clone() }]);
    }
}

/// Name of this program's jobs in Slurm's lists.
pub const JOB_NAME: &str = "prony";

/// A duration in whole minutes, at least one.
pub(crate) fn minutes(time: Duration) -> u64 {
    time.as_secs().div_ceil(60).max(1)
}

impl Launcher for SlurmLauncher {
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
        kernels::timer::sleep(Duration::from_millis(50));
        let words = link.stderr.text();
        let said = if words.is_empty() { error.to_string() } else { words };
        match reason(&self.name(node)) {
            Some(reason) => format!("{reason} ({said})"),
            None => said,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_bounded_and_alone_on_its_node() {
        let slurm = SlurmLauncher {
            nodes: vec!["n1".to_owned()],
            remote: "/opt/prony".to_owned(),
            partition: Some("all".to_owned()),
            time_limit: Duration::from_secs(90),
            queue_limit: Duration::from_millis(100),
            options: Vec::new(),
            interface: None,
            held: None,
        };
        let line = slurm.command(0).unwrap().join(" ");
        for word in ["--nodelist=n1", "--exclusive", "--time=2", "--immediate=1", "--no-kill", "--kill-on-bad-exit=0"] {
            assert!(line.contains(word), "{line}");
        }
        assert!(line.ends_with("/opt/prony agent --by slurm") && slurm.command(1).is_err());
        assert_eq!(granted("salloc: Pending job allocation 7\nsalloc: Granted job allocation 7\n"), Some(7));
        assert_eq!(granted("salloc: error: no"), None);
        let named = |options: &[&str]| cluster_of(&options.iter().map(|&one| one.to_owned()).collect::<Vec<_>>());
        assert_eq!(named(&["--account=x", "--clusters=b"]).as_deref(), Some("b"));
        assert_eq!(
            (named(&["-Mc"]).as_deref(), named(&["--clusters=a,b"]), named(&["--account=x"])),
            (Some("c"), None, None)
        );
    }
}
