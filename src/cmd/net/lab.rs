//! `prony net lab`: a switch with finite buffers on this host.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use kernels::process::{Child, ProcessExit};
use lab::{Lab, LabEntry, end_all_in, gain, labs};
use os::process::EndWatch;

use super::super::session::watch_for_signals;
use super::options::Switch;
use crate::ExitStatus;
use crate::output;
use crate::value_parsers::seconds;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: LabAction,
}

#[derive(Debug, Subcommand)]
enum LabAction {
    /// Build one and hold it until this command ends
    #[command(after_help = "Examples:
  prony net lab up --nodes 4 --link 10mbit")]
    Up {
        /// Use this many nodes: hosts at the switch
        #[arg(long, value_name = "N", default_value_t = 2)]
        nodes: usize,
        #[command(flatten)]
        switch: Switch,
        /// Stop after this time, such as 90s or 5m [default: when you stop it]
        #[arg(long, value_name = "TIME", value_parser = seconds)]
        time_limit: Option<f64>,
    },
    /// Run a program at a host of one
    #[command(after_help = "Examples:
  prony net lab run 1 ping -c 1 198.18.0.1")]
    Run {
        /// Host, counted from 0
        host: usize,
        /// Use the lab that this process holds [default: the only one]
        #[arg(long, value_name = "PID")]
        owner: Option<i32>,
        /// Program and its arguments
        #[arg(required = true, trailing_var_arg = true)]
        command: Vec<String>,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitStatus> {
    match &arguments.action {
        LabAction::Up { nodes, switch, time_limit } => up(*nodes, switch, *time_limit),
        LabAction::Run { host, owner, command } => enter(*host, *owner, command),
    }
}

fn up(hosts: usize, switch: &Switch, seconds: Option<f64>) -> Result<ExitStatus> {
    gain()?;
    let stopper = watch_for_signals()?;
    let lab = Lab::up(switch.shape(hosts)?)?;
    let last = Lab::address(hosts - 1);
    let text = format!("{hosts} hosts, {} to {last}, held by process {}\n", Lab::address(0), std::process::id());
    output::write(text.as_bytes())?;
    let began = std::time::Instant::now();
    while !stopper.asked() && seconds.is_none_or(|limit| began.elapsed().as_secs_f64() < limit) {
        kernels::timer::sleep(Duration::from_millis(50));
    }
    drop(lab);
    Ok(ExitStatus::Fine)
}

fn enter(host: usize, owner: Option<i32>, command: &[String]) -> Result<ExitStatus> {
    let mut found = labs()?;
    found.retain(|entry| owner.is_none_or(|owner| owner == entry.owner));
    let entry = match found.as_slice() {
        [one] => one,
        [] => anyhow::bail!("could not find a laboratory; hold one with: prony net lab up"),
        _ => anyhow::bail!("could not choose between {} laboratories; name one with --owner", found.len()),
    };
    let (program, rest) = command.split_first().context("could not run nothing")?;
    let parent = os::process::own_pid();
    let network = entry.network(host)?;
    // Forked while this process has one thread: the child must enter the laboratory before it executes the program.
    let child = kernels::process::fork(|| {
        let inside =
            os::process::die_with_parent(parent).map_err(launcher::Error::from).and_then(|()| entry.enter(host));
        let reason = match inside {
            Ok(()) => format!("could not run {program}: {}", Command::new(program).args(rest).exec()),
            Err(reason) => reason.to_string(),
        };
        output::remark(&reason);
        2
    })?;
    supervise(child, entry, network)
}

/// Time in which a program that was asked to end must end.
const GRACE: Duration = Duration::from_secs(2);

/// Waits for a program in a laboratory. If the owner of the laboratory ends first, all programs in it are ended.
fn supervise(child: Child, entry: &LabEntry, network: u64) -> Result<ExitStatus> {
    let stopper = watch_for_signals()?;
    let watch = EndWatch::new(child.pid());
    let mut asked = None;
    loop {
        if watch.ended()? {
            std::process::exit(match child.wait()? {
                ProcessExit::Code(code) => code,
                ProcessExit::Signal { number, .. } => 128 + number,
            });
        }
        if !entry.alive() {
            let ended = end_all_in(network);
            anyhow::bail!("could not go on: process {} took the laboratory down; {ended} programs ended", entry.owner);
        }
        if stopper.asked() {
            // The terminal has signalled the program too, which may still have output to write.
            if asked.get_or_insert_with(std::time::Instant::now).elapsed() > GRACE {
                os::process::send(child.pid(), Some(kernels::signal::Signal::Terminate))?;
            }
        }
        kernels::timer::sleep(Duration::from_millis(20));
    }
}
