//! Choice of a launcher and of nodes, the same for all commands that use nodes.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use application::{CommandLine, ShellChoice};
use clap::Args;
use launcher::agent::MissingNode;
use launcher::{Launcher, Local, SlurmLauncher, Ssh, slurm};

use crate::value_parsers::seconds;

/// Options for starting this program on nodes, the same for agents and for pilots.
#[derive(Debug, Clone, Args)]
pub(crate) struct LauncherOptions {
    /// Start nodes here (local), over ssh or with slurm
    #[arg(long, value_name = "LAUNCHER", default_value = "local", value_parser = ["local", "ssh", "slurm"],
          hide_possible_values = true)]
    pub(crate) launcher: String,
    /// Use these hosts of ssh, or nodes of Slurm, such as n[1-4] [default: any]
    #[arg(long, value_name = "HOST", value_delimiter = ',', value_parser = in_one_line)]
    pub(crate) hosts: Vec<String>,
    /// Run this ssh program with its options, such as 'ssh -p 2222'
    #[arg(
        long,
        help_heading = "Nodes",
        value_name = "COMMAND",
        env = "PRONY_SSH",
        hide_env_values = true,
        default_value = "ssh"
    )]
    pub(crate) ssh: String,
    /// Find Prony at this path on the nodes [default: the same as here]
    #[arg(long, help_heading = "Nodes", value_name = "PATH")]
    remote_prony: Option<String>,
    /// Pass this option to Slurm's commands, such as --slurm-option=--account=x
    #[arg(long, help_heading = "Nodes", value_name = "OPTION", allow_hyphen_values = true, value_parser = one_option)]
    pub(crate) slurm_option: Vec<String>,
}

impl LauncherOptions {
    /// The path of this program on the nodes.
    pub(crate) fn program(&self) -> Result<String> {
        if let Some(path) = &self.remote_prony {
            return Ok(path.clone());
        }
        own_path(std::env::current_exe().context("could not find this program's own file")?)
    }
}

/// The path of this program for nodes, as text.
fn own_path(path: PathBuf) -> Result<String> {
    path.into_os_string().into_string().map_err(|path| {
        let path = path.to_string_lossy();
        anyhow::anyhow!(
            "could not name this program to nodes: {path} is not UTF-8; name a link to it with --remote-prony"
        )
    })
}

/// One option of Slurm, with its value if it has one: one argument of its commands, and one word of a batch script.
fn one_option(text: &str) -> Result<String, String> {
    let text = in_one_line(text)?;
    let name = text.split('=').next().unwrap_or_default();
    if !name.starts_with('-') || name.chars().any(|c| c.is_whitespace() || "\"'".contains(c)) {
        return Err("it is not one option; write --name=value, with any blanks in the value".to_owned());
    }
    Ok(text)
}

/// A value that may become part of a line of a batch script.
fn in_one_line(text: &str) -> Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err("it has a control character, and an option is one line".to_owned());
    }
    Ok(text.to_owned())
}

/// The words of a command with options, which may be quoted as in a shell.
fn words(command: &str) -> Result<Vec<String>> {
    Ok(CommandLine::new(command, &ShellChoice::None)?.argv)
}

/// The launcher by ssh for the first `count` of these hosts, all checked before anything is started.
pub(crate) fn by_ssh(ssh: &str, hosts: &[String], count: usize, remote: String, arguments: Vec<String>) -> Result<Ssh> {
    ensure!(!hosts.is_empty(), "could not use ssh without hosts; name them with --hosts a,b,c");
    if count > hosts.len() {
        bail!("could not use {count} nodes: --hosts names {}", hosts.len());
    }
    let program = if ssh.trim().is_empty() { Vec::new() } else { words(ssh)? };
    let launcher = Ssh { program, hosts: hosts.to_vec(), remote, arguments, addresses: Vec::new() };
    // A host that ssh would parse as an option is refused.
    (0..count).try_for_each(|node| launcher.command(node).map(|_| ()))?;
    Ok(launcher)
}

/// The machine of a host without the user, in small letters, since names of hosts have no case.
fn machine_of(host: &str) -> String {
    let host = host.strip_prefix("ssh://").unwrap_or(host);
    host.rsplit_once('@').map_or(host, |(_, machine)| machine).to_ascii_lowercase()
}

/// Refuses a host that is named twice if each is a separate node. Two pilots of one machine fail together, and their
/// wrong results agree; two concurrent suites measure each other.
pub(crate) fn refuse_twice(hosts: &[String]) -> Result<()> {
    for (place, host) in hosts.iter().enumerate() {
        let machine = machine_of(host);
        ensure!(
            hosts[..place].iter().all(|other| machine_of(other) != machine),
            "could not use {machine} as two nodes: --hosts names it twice, and a machine is one node"
        );
    }
    Ok(())
}

/// Options that choose nodes.
#[derive(Debug, Clone, Args)]
pub(crate) struct NodeOptions {
    #[command(flatten)]
    pub(crate) by: LauncherOptions,
    /// Use this partition of Slurm [default: that of the site]
    #[arg(long, help_heading = "Nodes", value_name = "NAME", value_parser = in_one_line)]
    partition: Option<String>,
    /// End a node's Slurm job after this time
    #[arg(long, help_heading = "Nodes", value_name = "TIME", default_value = "2h", value_parser = seconds)]
    job_time: f64,
    /// Wait this long for late nodes, which are then missing
    #[arg(long, help_heading = "Nodes", value_name = "TIME", default_value = "10m", value_parser = seconds)]
    patience: f64,
    /// Send data over this network interface [default: the one that faces this host]
    #[arg(long, help_heading = "Nodes", value_name = "NAME")]
    interface: Option<String>,
}

/// Chosen nodes, and those that were not available.
pub(crate) struct ChosenNodes {
    pub(crate) launcher: Box<dyn Launcher>,
    pub(crate) count: usize,
    pub(crate) missing: Vec<MissingNode>,
}

impl NodeOptions {
    /// Chooses `count` nodes, or all that are named or that Slurm has. With `hold`, Slurm's nodes are allocated at once
    /// and held, for agents that are started many times.
    pub(crate) fn choose(&self, count: Option<usize>, hold: bool) -> Result<ChosenNodes> {
        match self.by.launcher.as_str() {
            "ssh" => {
                let LauncherOptions { hosts, ssh, .. } = &self.by;
                let count = count.unwrap_or(hosts.len());
                let launcher = by_ssh(ssh, hosts, count, self.by.program()?, Ssh::agent())?;
                Ok(ChosenNodes { launcher: Box::new(launcher), count, missing: Vec::new() })
            }
            "slurm" => self.choose_of_slurm(count, hold),
            _ => {
                let command = vec![self.by.program()?, "agent".to_owned()];
                let launcher = Local { commands: vec![command], addresses: Vec::new() };
                Ok(ChosenNodes { launcher: Box::new(launcher), count: count.unwrap_or(1), missing: Vec::new() })
            }
        }
    }

    /// Slurm's list of the named nodes, whose brackets may hold commas.
    fn named(&self) -> Option<String> {
        (!self.by.hosts.is_empty()).then(|| self.by.hosts.join(","))
    }

    fn choose_of_slurm(&self, count: Option<usize>, hold: bool) -> Result<ChosenNodes> {
        let named = self.named();
        let mut nodes = slurm::nodes(self.partition.as_deref(), named.as_deref())?;
        if let Some(list) = &named {
            nodes.extend(slurm::unknown(list, &nodes)?);
        }
        ensure!(!nodes.is_empty(), "could not find any node: Slurm has none in this partition or list (see sinfo)");
        let count = count.unwrap_or(nodes.len());
        let (names, missing) = slurm::choose(&nodes, count, named.is_some())?;
        let count = names.len();
        let mut launcher = SlurmLauncher {
            nodes: names,
            remote: self.by.program()?,
            partition: self.partition.clone(),
            time_limit: Duration::from_secs_f64(self.job_time),
            queue_limit: Duration::from_secs_f64(self.patience),
            options: self.by.slurm_option.clone(),
            interface: self.interface.clone(),
            held: None,
        };
        if hold && missing.is_empty() {
            launcher.hold()?;
        }
        Ok(ChosenNodes { launcher: Box::new(launcher), count, missing })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_path_that_is_no_text_is_refused_and_not_another_one() {
        assert_eq!(own_path("/opt/prony".into()).unwrap(), "/opt/prony");
        let strange = std::ffi::OsString::from_vec(b"/opt/pr\xf6ny".to_vec());
        let said = own_path(strange.into()).unwrap_err().to_string();
        assert!(said.contains("is not UTF-8") && said.contains("--remote-prony"), "{said}");
    }

    #[test]
    fn an_option_is_one_word_of_one_line() {
        for option in ["--comment=two words", "--no-requeue", "-pdebug", "--comment=\"x\" = 'y'"] {
            assert_eq!(one_option(option).as_deref(), Ok(option));
        }
        for text in ["--comment=a\nb", "--comment=a\r", "a\0", "\u{1b}[2J"] {
            assert!(in_one_line(text).is_err() && one_option(text).is_err(), "{text:?}");
        }
        // Two words would be two arguments in a script, and unknown to Slurm elsewhere.
        for text in ["--account x", "-p debug", "", "account=x", "\"--comment=a b\""] {
            assert!(one_option(text).unwrap_err().contains("--name=value"), "{text:?}");
        }
    }

    #[test]
    fn a_machine_is_one_node() {
        let check = |hosts: &[&str]| refuse_twice(&hosts.iter().map(|&host| host.to_owned()).collect::<Vec<_>>());
        for hosts in [&["a", "b"][..], &["127.0.0.1", "localhost"], &["ssh://u@a:1", "ssh://u@a:2"], &["a"]] {
            assert!(check(hosts).is_ok(), "{hosts:?}");
        }
        for hosts in [&["b", "a", "a"][..], &["a", "me@a"], &["x@a", "y@A"]] {
            let said = check(hosts).unwrap_err().to_string();
            assert!(said.contains("use a as two nodes: --hosts names it twice"), "{said}");
        }
    }
}
