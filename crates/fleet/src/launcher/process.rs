//! Agents behind a command: a child process with its three streams.

use std::io::{BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{LastWords, Link};
use crate::{Error, Result};

/// Time that a child has to end by itself once its input has ended, and again once it was asked to.
const GRACE: Duration = Duration::from_millis(700);

/// A child that is asked to end, killed if it does not, and waited for.
struct Ended(Child);

impl Ended {
    fn gone_within(&mut self, time: Duration) -> bool {
        let deadline = Instant::now() + time;
        loop {
            if matches!(self.0.try_wait(), Ok(Some(_)) | Err(_)) {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        // A launcher such as srun takes its job back when it is asked to end, and leaves it behind when it is killed.
        let polite = self.gone_within(GRACE) || {
            let _ = sys::process::send(self.0.id().cast_signed(), Some(sys::signal::Signal::Terminate));
            self.gone_within(2 * GRACE)
        };
        if !polite {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// Starts a command as an agent.
///
/// # Errors
/// When the program is not there or cannot be started.
pub(super) fn spawn(mut command: Command, name: String) -> Result<Link> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own: Ctrl-C reaches the driver alone, which ends its agents in order.
        .process_group(0)
        .spawn()
        .map_err(|error| not_started(&program, error))?;
    let gone = || Error::Gone(format!("{program} has no input or output"));
    let (input, output) = (child.stdin.take().ok_or_else(gone)?, child.stdout.take().ok_or_else(gone)?);
    let words = LastWords::default();
    if let Some(mut errors) = child.stderr.take() {
        let words = words.clone();
        std::thread::spawn(move || {
            let mut piece = [0; 1024];
            while let Ok(count @ 1..) = errors.read(&mut piece) {
                words.hear(&piece[..count]);
            }
        });
    }
    Ok(Link {
        name: format!("{name} ({})", child.id()),
        output: Box::new(BufReader::new(output)),
        input: Box::new(input),
        words,
        keep: Box::new(Ended(child)),
    })
}

/// One clear line for a program that is not there.
pub(super) fn not_started(program: &str, error: std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::NotFound {
        Error::Usage(format!("there is no program {program} here; install it or name another launcher"))
    } else {
        Error::Io { what: format!("start {program}"), source: error }
    }
}
