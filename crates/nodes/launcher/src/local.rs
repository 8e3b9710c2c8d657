//! Agents as child processes of this host, or behind any command that starts them on another one.

use std::net::IpAddr;
use std::process::Command;

use super::{Launcher, Link, process};
use crate::hello::Hello;
use crate::{Error, Result};

/// One command for each node, and an address if it is not to use its own.
#[derive(Debug, Clone, Default)]
pub struct Local {
    /// Program and arguments that start the agent of each node; the last one is used for all further nodes.
    pub commands: Vec<Vec<String>>,
    /// Address of each node.
    pub addresses: Vec<IpAddr>,
}

impl Launcher for Local {
    fn start(&mut self, node: usize) -> Result<Link> {
        let command = self.commands.get(node).or(self.commands.last()).and_then(|words| words.split_first());
        let (program, arguments) = command.ok_or_else(|| Error::Usage("no command starts an agent".to_owned()))?;
        let mut command = Command::new(program);
        command.args(arguments);
        process::spawn(command, self.name(node))
    }

    fn address(&self, node: usize, hello: &Hello) -> IpAddr {
        self.addresses.get(node).copied().unwrap_or(hello.address)
    }
}
