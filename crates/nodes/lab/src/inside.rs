//! Threads inside network namespaces.

use std::fs::File;
use std::process::Command;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use os::namespace::{NamespaceKind, enter, leave};
use os::process::Finished;

use crate::{Error, Result};

const HERE: &str = "/proc/thread-self/ns/net";

/// Creates `count` network namespaces and holds them open.
pub(super) fn new_networks(count: usize) -> Result<Vec<File>> {
    let make = move || -> Result<Vec<File>> {
        (0..count)
            .map(|_| {
                leave(&[NamespaceKind::Network])?;
                // Automatic IPv6 addresses would send frames of their own.
                let quiet = "/proc/sys/net/ipv6/conf/";
                for scope in ["all", "default"] {
                    // A kernel without IPv6 needs no change.
                    let _ = std::fs::write(format!("{quiet}{scope}/disable_ipv6"), "1");
                }
                File::open(HERE).map_err(Error::io(format!("open {HERE}")))
            })
            .collect()
    };
    let thread = Builder::new().name("namespaces".to_owned()).spawn(make).map_err(Error::io("start a thread"))?;
    thread.join().unwrap_or_else(|_| Err(Error::Lab("the thread that creates namespaces panicked".to_owned())))
}

/// Starts a thread inside a namespace.
pub(super) fn spawn<T: Send + 'static>(
    network: &File,
    name: String,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<Result<T>>> {
    let network = network.try_clone().map_err(Error::io("hold a namespace"))?;
    Builder::new()
        .name(name)
        .spawn(move || {
            enter(&network, NamespaceKind::Network)?;
            Ok(work())
        })
        .map_err(Error::io("start a thread"))
}

/// Runs `work` inside a namespace, in a separate thread, and waits for it.
pub(super) fn run<T: Send>(network: &File, work: impl FnOnce() -> T + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let work = || {
            enter(network, NamespaceKind::Network)?;
            Ok(work())
        };
        let thread = Builder::new().spawn_scoped(scope, work).map_err(Error::io("start a thread"))?;
        thread.join().unwrap_or_else(|_| Err(Error::Lab("a thread inside it panicked".to_owned())))
    })
}

/// Runs a program of iproute2 inside a namespace with commands on its standard input. Returns its output.
pub(super) fn batch(network: &File, program: &str, arguments: &[&str], commands: &str) -> Result<String> {
    let mut command = Command::new(program);
    command.args(arguments);
    let missing = |error: std::io::Error| Error::Lab(format!("{program} of iproute2 cannot be run: {error}"));
    let done = run(network, move || finish(&mut command, commands))?.map_err(missing)?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.output).into_owned());
    }
    let said = String::from_utf8_lossy(&done.errors);
    Err(Error::Lab(format!("{program} printed: {}", said.trim().lines().next().unwrap_or("nothing"))))
}

/// Runs a program of the laboratory to its end, with limits on time and output.
pub(super) fn finish(command: &mut Command, input: &str) -> std::io::Result<Finished> {
    /// A batch for a thousand hosts takes seconds.
    const PATIENCE: Duration = Duration::from_secs(300);
    const MOST: usize = 64 << 20;
    os::process::run(command, input.as_bytes(), PATIENCE, MOST)
}
