//! Agents on other hosts, by the user's own ssh with its configuration and keys.

use std::net::IpAddr;
use std::process::Command;

use model::words::quoted;

use super::{Launcher, Link, process};
use crate::hello::{By, Hello};
use crate::{Error, Result};

/// A list of hosts, with one agent each.
#[derive(Debug, Clone)]
pub struct Ssh {
    /// Program and its own options, such as `["ssh", "-p", "2222"]`.
    pub program: Vec<String>,
    /// Hosts as ssh knows them: `name`, `user@name`, or an alias of its configuration.
    pub hosts: Vec<String>,
    /// Path of this program there.
    pub remote: String,
    /// Its arguments there ([`Ssh::agent`] for an agent).
    pub arguments: Vec<String>,
    /// Address of each host for data, if it is not the one that ssh connected to.
    pub addresses: Vec<IpAddr>,
}

impl Ssh {
    /// The command that starts this program on a host.
    ///
    /// # Errors
    /// When no program or host is named, or the host looks like an option.
    pub fn command(&self, node: usize) -> Result<Vec<String>> {
        let host = self.hosts.get(node).ok_or_else(|| {
            Error::Usage(format!("{} hosts are named, and a {}th is needed", self.hosts.len(), node + 1))
        })?;
        if host.is_empty() || host.starts_with('-') || host.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(Error::Usage(format!("{host:?} is not a valid host name for ssh")));
        }
        let mut words = self.program.clone();
        if words.is_empty() {
            words.push("ssh".to_owned());
        }
        // No user can type a password. A host that does not answer is missing, and one that falls silent is lost.
        for option in ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3"] {
            words.extend(["-o".to_owned(), option.to_owned()]);
        }
        words.extend(["-T".to_owned(), host.clone()]);
        // ssh joins its arguments and passes them to the remote shell.
        let there = std::iter::once(&self.remote).chain(&self.arguments).map(|word| quoted(word));
        words.push(format!("exec {}", there.collect::<Vec<_>>().join(" ")));
        Ok(words)
    }

    /// The arguments that make this program an agent.
    #[must_use]
    pub fn agent() -> Vec<String> {
        ["agent", "--by", By::Ssh.word()].map(str::to_owned).to_vec()
    }
}

impl Launcher for Ssh {
    fn start(&mut self, node: usize) -> Result<Link> {
        let words = self.command(node)?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        process::spawn(command, self.name(node))
    }

    fn name(&self, node: usize) -> String {
        self.hosts.get(node).cloned().unwrap_or_else(|| format!("node {node}"))
    }

    fn address(&self, node: usize, hello: &Hello) -> IpAddr {
        self.addresses.get(node).copied().unwrap_or(hello.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_safe_from_hosts_and_paths() {
        let ssh = |host: &str| Ssh {
            program: vec!["ssh".to_owned(), "-p".to_owned(), "22022".to_owned()],
            hosts: vec![host.to_owned()],
            remote: "/opt/my tools/prony".to_owned(),
            arguments: Ssh::agent(),
            addresses: Vec::new(),
        };
        let words = ssh("user@a").command(0).unwrap();
        assert_eq!(words[..3], ["ssh", "-p", "22022"]);
        assert_eq!(words[words.len() - 2..], ["user@a", "exec '/opt/my tools/prony' agent --by ssh"]);
        for bad in ["", "-oProxyCommand=x", "a b", "a\nb"] {
            assert!(ssh(bad).command(0).is_err(), "{bad:?}");
        }
        assert!(ssh("a").command(1).is_err());
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
