//! Agents as child processes, behind whatever command starts them: on this host, or by `ssh HOST` on another.

use std::io::BufReader;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Child, Command, Stdio};

use super::{Launcher, Link};
use crate::{Error, Result};

/// One command and one address a node; loopback where none is named.
#[derive(Debug, Clone, Default)]
pub struct Local {
    /// Program and arguments that start the agent of each node; the last stands for all further ones.
    pub commands: Vec<Vec<String>>,
    /// Address of each node.
    pub addresses: Vec<IpAddr>,
}

/// A child that is killed and waited for when nobody needs it any more.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // Where it has ended already, there is nothing to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Launcher for Local {
    fn start(&mut self, node: usize) -> Result<Link> {
        let command = self.commands.get(node).or(self.commands.last()).and_then(|words| words.split_first());
        let (program, arguments) = command.ok_or_else(|| Error::Usage("no command starts an agent".to_owned()))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Error::io(format!("start {program}")))?;
        let gone = || Error::Gone(format!("{program} has no input or output"));
        let (input, output) = (child.stdin.take().ok_or_else(gone)?, child.stdout.take().ok_or_else(gone)?);
        Ok(Link {
            name: format!("node {node} ({})", child.id()),
            output: Box::new(BufReader::new(output)),
            input: Box::new(input),
            keep: Box::new(Killed(child)),
        })
    }

    fn address(&self, node: usize) -> IpAddr {
        self.addresses.get(node).copied().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
    }
}
