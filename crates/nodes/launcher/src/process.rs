//! Agents behind a command: a child process with its three streams.

use std::io::{BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use os::process::{EndingOutput, TimedInput, wait_within};

use super::{Link, StderrTail};
use crate::{Error, Result};

/// Time for a child to end after its input was closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_millis(700);

/// Time limit for a killed child to end.
const KILLED: Duration = Duration::from_secs(5);
/// Time limit for a child to take a message.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// A child that gets SIGTERM, then SIGKILL, and is waited for.
struct EndingChild(Child);

impl Drop for EndingChild {
    fn drop(&mut self) {
        // A launcher such as srun cancels its job on SIGTERM, and leaves it behind on SIGKILL.
        if wait_within(&mut self.0, GRACE).is_some() {
            return;
        }
        let _ = os::process::send(self.0.id().cast_signed(), Some(kernels::signal::Signal::Terminate));
        if wait_within(&mut self.0, 2 * GRACE).is_none() {
            let _ = self.0.kill();
            // A child that hangs in the kernel is left behind.
            let _ = wait_within(&mut self.0, KILLED);
        }
    }
}

/// Starts a command as an agent.
///
/// # Errors
/// When the program does not exist or cannot be started.
pub(super) fn spawn(mut command: Command, name: String) -> Result<Link> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A separate process group: Ctrl-C reaches the driver alone, which ends its agents in order.
        .process_group(0)
        .spawn()
        .map_err(|error| not_started(&program, error))?;
    let gone = || Error::Gone(format!("{program} has no input or output"));
    let (input, output) = (child.stdin.take().ok_or_else(gone)?, child.stdout.take().ok_or_else(gone)?);
    let errors = child.stderr.take();
    // From here on, an error ends the child.
    let ended = EndingChild(child);
    let pid = ended.0.id();
    let stderr = StderrTail::default();
    if let Some(mut errors) = errors {
        let stderr = stderr.clone();
        let listen = move || {
            let mut piece = [0; 1024];
            while let Ok(count @ 1..) = errors.read(&mut piece) {
                stderr.append(&piece[..count]);
            }
        };
        // This thread is never joined: children of the agent may hold its standard error open for ever.
        std::thread::Builder::new().name("errors".to_owned()).spawn(listen).map_err(Error::io("start a thread"))?;
    }
    Ok(Link {
        name: format!("{name} ({pid})"),
        output: Box::new(BufReader::new(EndingOutput::new(output, pid.cast_signed())?)),
        input: Box::new(TimedInput::new(input, WRITE_TIMEOUT)?),
        stderr,
        keep: Box::new(ended),
    })
}

/// A clear error for a missing program.
pub(super) fn not_started(program: &str, error: std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::NotFound {
        Error::Usage(format!("the program {program} is missing; install it or name another launcher"))
    } else {
        Error::Io { what: format!("start {program}"), source: error }
    }
}
