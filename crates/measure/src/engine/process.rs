//! Fresh processes: the worker is this same program.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Engine, EngineError, Stopper};
use crate::step::{Reply, Step};

/// Longest line that a worker may say: a launch of thousands of batches with room to spare.
const LONGEST_LINE: u64 = 4 << 20;
/// Most lines of one launch.
const MOST_LINES: usize = 4096;
/// How often a waiting harness looks whether somebody asked to stop. Rarely: it may share the worker's CPU.
const LOOK: Duration = Duration::from_millis(200);
/// What is kept of a crashed worker's last words.
const LAST_WORDS: usize = 600;

/// Starts one process a launch.
pub struct ProcessEngine {
    program: OsString,
    arguments: Vec<OsString>,
    began: Instant,
}

impl ProcessEngine {
    /// An engine whose workers are `program arguments...`, which serve a step on standard input and output.
    #[must_use]
    pub fn new(program: impl Into<OsString>, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { program: program.into(), arguments, began: Instant::now() }
    }

    fn start(&self) -> Result<Child, EngineError> {
        Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: Ctrl-C reaches the harness alone, and a kill reaches everything that the worker started.
            .process_group(0)
            .spawn()
            .map_err(|error| EngineError::NotStarted(format!("{}: {error}", self.program.to_string_lossy())))
    }
}

impl Engine for ProcessEngine {
    fn launch(&mut self, step: &Step, patience: Duration, stopper: &Stopper) -> Result<Vec<Reply>, EngineError> {
        let text = serde_json::to_vec(step).map_err(|error| EngineError::NotStarted(error.to_string()))?;
        let mut worker = Worker::adopt(self.start()?);
        worker.tell(&text);
        let heard = worker.listen(patience, stopper);
        let ended = worker.end();
        match heard {
            Ok(replies) if replies.last() == Some(&Reply::Done) => Ok(replies),
            Ok(_) => Err(EngineError::Crashed(ended)),
            Err(error) => Err(error),
        }
    }

    fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn tick(&self) -> u64 {
        sys::clock::tick()
    }

    fn identity(&self) -> model::Identity {
        crate::identity()
    }
}

/// A running worker: killed with its whole group when it is dropped.
struct Worker {
    child: Child,
    lines: Receiver<std::io::Result<String>>,
    last_words: Option<JoinHandle<String>>,
}

impl Worker {
    fn adopt(mut child: Child) -> Self {
        let (say, lines) = channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                for _ in 0..MOST_LINES {
                    let mut line = Vec::new();
                    let read = output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
                    let said = match read {
                        Ok(0) => break,
                        Ok(_) => Ok(String::from_utf8_lossy(&line).into_owned()),
                        Err(error) => Err(error),
                    };
                    if say.send(said).is_err() {
                        break;
                    }
                }
            });
        }
        let last_words = child.stderr.take().map(|mut errors| {
            std::thread::spawn(move || {
                let mut words = Vec::new();
                let mut piece = [0; 4096];
                while let Ok(read @ 1..) = errors.read(&mut piece) {
                    words.extend_from_slice(&piece[..read]);
                    words.drain(..words.len().saturating_sub(LAST_WORDS));
                }
                String::from_utf8_lossy(&words).trim().replace('\n', "; ")
            })
        });
        Self { child, lines, last_words }
    }

    fn tell(&mut self, text: &[u8]) {
        if let Some(mut input) = self.child.stdin.take() {
            // A worker that died already is found out by its silence.
            let _ = input.write_all(text);
        }
    }

    fn listen(&mut self, patience: Duration, stopper: &Stopper) -> Result<Vec<Reply>, EngineError> {
        let deadline = Instant::now() + patience;
        let mut replies = Vec::new();
        loop {
            if stopper.asked() {
                return Err(EngineError::Stopped);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(EngineError::Hung(patience.as_secs()));
            }
            match self.lines.recv_timeout(left.min(LOOK)) {
                Ok(Ok(line)) => {
                    let reply: Reply = serde_json::from_str(&line).map_err(|_| {
                        let start: String = line.trim_end().chars().take(60).collect();
                        EngineError::Babbled(format!("it said something that is no reply: {start}"))
                    })?;
                    replies.push(reply);
                    if replies.last() == Some(&Reply::Done) {
                        return Ok(replies);
                    }
                    if replies.len() >= MOST_LINES {
                        return Err(EngineError::Babbled("it did not stop talking".to_owned()));
                    }
                }
                Ok(Err(error)) => return Err(EngineError::Crashed(error.to_string())),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(replies),
            }
        }
    }

    /// Ends the group and says how the worker itself ended.
    fn end(mut self) -> String {
        // A worker that has said Done only has to leave; give it a moment before the group is killed.
        let mut status = None;
        for _ in 0..50 {
            status = self.child.try_wait().ok().flatten();
            if status.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        kill_group(&self.child);
        let status = status.or_else(|| self.child.wait().ok());
        let words = self.last_words.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let how = status.map_or_else(|| "unknown".to_owned(), describe);
        if words.is_empty() { how } else { format!("{how}; it said: {words}") }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        kill_group(&self.child);
        // Reaps it; an error means that it was reaped before.
        let _ = self.child.wait();
    }
}

fn kill_group(child: &Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        // Nobody left to kill is what is hoped for.
        let _ = sys::process::kill_group(group, sys::signal::Signal::Kill);
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "unknown".to_owned(),
    }
}
