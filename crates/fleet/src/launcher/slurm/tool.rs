//! Slurm's programs, asked with a bound in time and in text.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use super::super::process::not_started;
use crate::{Error, Result};

/// A controller that does not answer is given up after this time.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most text that is taken: a job of `squeue --json` has some 5 kB, and a large site tens of thousands of them.
const MOST: u64 = 256 << 20;

/// What a program of Slurm's says, given `input`.
pub(super) fn ask(program: &str, arguments: &[&str], input: &str) -> Result<String> {
    ask_with(program, arguments, input, &[])
}

/// What a program says on its standard error, where it says what others say on standard output.
pub(super) fn complaint(program: &str, arguments: &[&str], patience: Duration) -> Result<String> {
    talk(program, arguments, "", &[], patience).map(|[_, err]| err)
}

/// The same as [`ask`] with more in its environment.
pub(super) fn ask_with(
    program: &str,
    arguments: &[&str],
    input: &str,
    environment: &[(String, String)],
) -> Result<String> {
    talk(program, arguments, input, environment, PATIENCE).map(|[out, _]| out)
}

fn talk(
    program: &str,
    arguments: &[&str],
    input: &str,
    environment: &[(String, String)],
    patience: Duration,
) -> Result<[String; 2]> {
    let mut child = Command::new(program)
        .args(arguments)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| not_started(program, error))?;
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read its input says why on its output.
        let _ = pipe.write_all(input.as_bytes());
    }
    let (tell, told) = channel();
    let streams: [Option<Box<dyn Read + Send>>; 2] =
        [child.stdout.take().map(|pipe| Box::new(pipe) as _), child.stderr.take().map(|pipe| Box::new(pipe) as _)];
    for (which, stream) in streams.into_iter().enumerate() {
        let tell = tell.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read until an error is what there is.
            let _ = stream.map(|stream| stream.take(MOST).read_to_end(&mut bytes));
            let _ = tell.send((which, bytes));
        });
    }
    let mut said = [Vec::new(), Vec::new()];
    for _ in 0..2 {
        let Ok((which, bytes)) = told.recv_timeout(patience) else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Error::Gone(format!("{program} does not answer within {} s", patience.as_secs())));
        };
        said[which] = bytes;
    }
    let status = child.wait().map_err(Error::io(format!("wait for {program}")))?;
    let [out, err] = said.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if status.success() {
        return Ok([out, err]);
    }
    let lines: Vec<&str> = err.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).collect();
    Err(Error::Refused(if lines.is_empty() { format!("{program} ended with {status}") } else { lines.join("; ") }))
}
