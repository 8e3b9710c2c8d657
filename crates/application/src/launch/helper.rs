//! The helper process: this same program, which performs one order and ends.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use measure::Stopper;
use sys::signal::Signal;

use super::{Order, Report, perform};
use crate::Error;

/// Longest order and longest report.
const LIMIT: u64 = 256 << 20;
/// Time beyond the copies' own that the helper is given.
const SPARE: Duration = Duration::from_secs(20);
/// How often somebody who waits looks whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Performs the order on `input` and writes its report to `output`.
///
/// # Errors
/// When the order cannot be read or the report cannot be written: nobody listens then.
pub fn serve(input: impl Read, mut output: impl Write) -> std::io::Result<()> {
    let mut text = String::new();
    input.take(LIMIT).read_to_string(&mut text)?;
    let order: Order = serde_json::from_str(&text)?;
    serde_json::to_writer(&mut output, &perform(&order))?;
    output.flush()
}

/// How helpers are started.
#[derive(Debug, Clone)]
pub struct Starter {
    program: OsString,
    arguments: Vec<OsString>,
}

impl Starter {
    /// Helpers that are `program arguments...`, which [`serve`] on standard input and output.
    #[must_use]
    pub fn new(program: impl Into<OsString>, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self { program: program.into(), arguments: arguments.into_iter().map(Into::into).collect() }
    }

    /// The program, for applications that run it too.
    #[must_use]
    pub fn program(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// Has an order performed in a process group of its own, all of which is killed in the end.
    ///
    /// # Errors
    /// When the helper could not be started or said nothing sensible, or somebody asked to stop.
    pub fn launch(&self, order: &Order, stopper: &Stopper) -> Result<Report, Error> {
        let fail = |what: &str, error: &dyn std::fmt::Display| Error::Helper(format!("{what}: {error}"));
        let text = serde_json::to_vec(order).map_err(|error| fail("its order", &error))?;
        let child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| fail(&self.program(), &error))?;
        let mut group = Group(child);
        let (say, heard) = channel();
        if let (Some(mut input), Some(output)) = (group.0.stdin.take(), group.0.stdout.take()) {
            std::thread::spawn(move || {
                let mut answer = Vec::new();
                // An order that cannot be written is answered by nothing, which is told below.
                let _ = input.write_all(&text);
                drop(input);
                let read = output.take(LIMIT).read_to_end(&mut answer);
                let _ = say.send(read.map(|_| answer));
            });
        }
        let deadline = Instant::now() + Duration::from_secs_f64(order.patience) + SPARE;
        loop {
            match heard.recv_timeout(LOOK) {
                Ok(Ok(answer)) => {
                    return serde_json::from_slice(&answer).map_err(|error| fail("its helper ended early", &error));
                }
                Ok(Err(error)) => return Err(fail("its helper", &error)),
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Helper("its helper said nothing".to_owned())),
                Err(RecvTimeoutError::Timeout) if stopper.asked() => return Err(Error::Stopped),
                Err(RecvTimeoutError::Timeout) if Instant::now() > deadline => {
                    return Err(Error::Helper("its helper did not answer in time".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// A helper with everything that it started.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        if let Ok(group) = i32::try_from(self.0.id()) {
            // Nobody left to kill is what is hoped for.
            let _ = sys::process::kill_group(group, Signal::Kill);
        }
        let _ = self.0.wait();
    }
}
