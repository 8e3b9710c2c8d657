//! Agents behind a command: a child process with its three streams.

use std::io::{BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sys::process::{EndingOutput, TimedInput, wait_within};

use super::{LastWords, Link};
use crate::{Error, Result};

/// Time that a child has to end by itself once its input has ended, and again once it was asked to.
const GRACE: Duration = Duration::from_millis(700);

/// Time in which a child that was killed must be gone.
const KILLED: Duration = Duration::from_secs(5);
/// Time that a child has to take a message in.
const HEARS: Duration = Duration::from_secs(30);

/// A child that is asked to end, killed if it does not, and waited for.
struct EndingChild(Child);

impl Drop for EndingChild {
    fn drop(&mut self) {
        // A launcher such as srun takes its job back when it is asked to end, and leaves it behind when it is killed.
        if wait_within(&mut self.0, GRACE).is_some() {
            return;
        }
        let _ = sys::process::send(self.0.id().cast_signed(), Some(sys::signal::Signal::Terminate));
        if wait_within(&mut self.0, 2 * GRACE).is_none() {
            let _ = self.0.kill();
            // One that the kernel holds is left behind.
            let _ = wait_within(&mut self.0, KILLED);
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
    let errors = child.stderr.take();
    // From here on, an error ends the child again.
    let ended = EndingChild(child);
    let pid = ended.0.id();
    let words = LastWords::default();
    if let Some(mut errors) = errors {
        let words = words.clone();
        let listen = move || {
            let mut piece = [0; 1024];
            while let Ok(count @ 1..) = errors.read(&mut piece) {
                words.hear(&piece[..count]);
            }
        };
        // This thread is never joined: what the agent started may hold its errors open for ever.
        std::thread::Builder::new().name("errors".to_owned()).spawn(listen).map_err(Error::io("start a thread"))?;
    }
    Ok(Link {
        name: format!("{name} ({pid})"),
        output: Box::new(BufReader::new(EndingOutput::new(output, pid.cast_signed())?)),
        input: Box::new(TimedInput::new(input, HEARS)?),
        words,
        keep: Box::new(ended),
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
