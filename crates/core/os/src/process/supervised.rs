//! Programs that are started, given input, read and ended within deadlines, whatever they or their children do.
//!
//! One thread and one `poll(2)` serve all streams of all programs, so there is no thread to join and no read, write or
//! wait without a limit. The end of the program itself is decisive: a process that it started and that left its group
//! (`setsid(2)`) may hold its pipes open forever.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use kernels::poll::PollSet;
use kernels::signal::Signal;

use super::pipe::{HELD, HELD_BYTES, set_nonblocking, wait};
use super::{EndWatch, group};

/// Bytes read from a stream at a time.
const PIECE: usize = 64 * 1024;
/// Interval of checks for the end of a program if no descriptor reports it.
const BLIND: Duration = Duration::from_millis(1);
/// Delay of a wait that shows that this process itself was stopped, by Ctrl-Z or with its container.
const STOPPED: Duration = Duration::from_secs(1);
/// Time in which a killed program must end; one that the kernel holds longer (a failed network disk) is abandoned.
const KILLED: Duration = Duration::from_secs(5);

/// An output stream of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
}

/// Input and settings of a program.
#[derive(Debug, Clone, Default)]
pub struct Supply {
    /// Its standard input, which ends after these bytes; `None` means empty input.
    pub input: Option<Vec<u8>>,
    /// Whether it leads its own process group: Ctrl-C does not reach it, and the whole group ends with it.
    pub own_group: bool,
    /// Whether its standard output is discarded.
    pub discard_output: bool,
    /// Whether its standard error is discarded.
    pub discard_errors: bool,
}

/// Why [`Supervised::read_until`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attended {
    /// The program has ended, and all of its output was read.
    Ended,
    /// The deadline passed.
    Late,
    /// A stop was requested.
    Stopped,
    /// The listener requested the end.
    Enough,
}

/// A started program. When dropped, it is killed with its group and waited for with a time limit.
#[derive(Debug)]
pub struct Supervised {
    child: Child,
    watch: EndWatch,
    own_group: bool,
    /// It was killed, and the kernel did not end it in time.
    abandoned: bool,
    ended: Option<(Instant, ExitStatus)>,
    input: Option<(ChildStdin, Vec<u8>, usize)>,
    output: Option<ChildStdout>,
    errors: Option<ChildStderr>,
}

impl Supervised {
    /// Starts a command; its streams are set here.
    ///
    /// # Errors
    /// When it could not be started.
    pub fn start(command: &mut Command, supply: Supply) -> io::Result<Self> {
        command.stdin(if supply.input.is_some() { Stdio::piped() } else { Stdio::null() });
        let stream = |discard: bool| if discard { Stdio::null() } else { Stdio::piped() };
        command.stdout(stream(supply.discard_output)).stderr(stream(supply.discard_errors));
        if supply.own_group {
            command.process_group(0);
        }
        let mut child = command.spawn().map_err(not_started)?;
        let watch = EndWatch::new(child.id().cast_signed());
        let input = child.stdin.take().zip(supply.input).map(|(pipe, bytes)| (pipe, bytes, 0));
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let own_group = supply.own_group;
        let program = Self { child, watch, own_group, abandoned: false, ended: None, input, output, errors };
        // After an error the program is dropped here, which ends it.
        if let Some((pipe, _, _)) = &program.input {
            set_nonblocking(pipe).map_err(io::Error::other)?;
        }
        if let Some(pipe) = &program.output {
            set_nonblocking(pipe).map_err(io::Error::other)?;
        }
        if let Some(pipe) = &program.errors {
            set_nonblocking(pipe).map_err(io::Error::other)?;
        }
        Ok(program)
    }

    /// Its process number.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// When its end was seen, and its exit status.
    #[must_use]
    pub const fn ended(&self) -> Option<(Instant, ExitStatus)> {
        self.ended
    }

    /// Whether it has ended and its streams are closed.
    #[must_use]
    pub const fn over(&self) -> bool {
        self.ended.is_some() && self.output.is_none() && self.errors.is_none()
    }

    /// Reads its output until it has ended, the listener requests the end, the deadline has passed or a stop was
    /// requested, which is checked at intervals of `look`. The deadline moves by the time for which this process was
    /// itself stopped, because the program may have been stopped with it.
    ///
    /// # Errors
    /// When the system cannot wait for it.
    pub fn read_until(
        &mut self,
        deadline: Instant,
        look: Duration,
        stop: &dyn Fn() -> bool,
        receive: &mut dyn FnMut(Stream, &[u8]) -> ControlFlow<()>,
    ) -> io::Result<Attended> {
        let (mut deadline, mut enough, mut quiet, mut late) = (deadline, false, false, 0);
        loop {
            if stop() {
                return Ok(Attended::Stopped);
            }
            // Output from before its end is in the pipe, and is read however late this process runs.
            let held = |(at, _): (Instant, ExitStatus)| at.elapsed() > HELD && (quiet || late > HELD_BYTES);
            if self.over() || self.ended.is_some_and(held) {
                return Ok(Attended::Ended);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Attended::Late);
            }
            let time = if self.ended.is_some() { left.min(look).min(HELD) } else { left.min(look) };
            let (ended, mut received, began) = (self.ended.is_some(), 0, Instant::now());
            serve(std::slice::from_mut(self), time, &mut |_, stream, bytes| {
                received += bytes.len();
                enough |= receive(stream, bytes).is_break();
            })?;
            deadline += stopped(time, began.elapsed());
            quiet = ended && received == 0;
            late += if ended { received } else { 0 };
            if enough {
                return Ok(Attended::Enough);
            }
        }
    }

    /// Allows it a grace period, kills it with its group, and returns its exit status: `None` if it cannot be killed or
    /// the kernel does not end it.
    pub fn end(&mut self, grace: Duration, receive: &mut dyn FnMut(Stream, &[u8])) -> Option<ExitStatus> {
        let ended = |program: &mut Self, time: Duration, receive: &mut dyn FnMut(Stream, &[u8])| {
            let mut pass = |stream: Stream, bytes: &[u8]| {
                receive(stream, bytes);
                ControlFlow::Continue(())
            };
            // A process that cannot be waited for has no status, which is the result below.
            let _ = program.read_until(Instant::now() + time, time, &|| false, &mut pass);
            program.ended.map(|(_, status)| status)
        };
        ended(self, grace, receive).or_else(|| {
            if self.abandoned {
                return None;
            }
            self.kill();
            let status = ended(self, KILLED, receive);
            self.abandoned = status.is_none();
            status
        })
    }

    /// Kills it, and its group if it leads one.
    pub fn kill(&self) {
        if self.ended.is_some() {
            return;
        }
        // An error means that the process or its group has already ended.
        let _ = match self.own_group {
            true => group::kill_group(self.pid(), Signal::Kill),
            false => group::send(self.pid(), Some(Signal::Kill)),
        };
    }

    /// Abandons a killed program that has not ended: it is not waited for again.
    pub const fn abandon(&mut self) {
        self.abandoned = true;
    }

    fn write(&mut self) {
        let Some((pipe, bytes, done)) = &mut self.input else { return };
        match pipe.write(&bytes[*done..]) {
            Ok(count) if count > 0 => {
                *done += count;
                if *done >= bytes.len() {
                    self.input = None;
                }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            // A program that does not read its input reports why, or runs into the deadline.
            _ => self.input = None,
        }
    }

    /// Checks whether it has ended. The rest of its group is killed then, while its number still identifies the group.
    fn look(&mut self) -> io::Result<()> {
        if self.ended.is_none() && self.watch.ended().map_err(io::Error::other)? {
            let at = Instant::now();
            if self.own_group {
                self.kill();
            }
            // It has ended, so this does not wait.
            self.ended = Some((at, self.child.wait()?));
            self.input = None;
        }
        Ok(())
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.end(Duration::ZERO, &mut |_, _| {});
    }
}

/// For how long this process was stopped if a wait of at most `time` took this long.
fn stopped(time: Duration, took: Duration) -> Duration {
    let delay = took.saturating_sub(time);
    if delay > STOPPED { delay } else { Duration::ZERO }
}

/// Why a program could not be started: without the null device, which its streams need, its own file seems to be
/// absent.
fn not_started(error: io::Error) -> io::Error {
    const NULL: &str = "/dev/null";
    match error.kind() == io::ErrorKind::NotFound && !std::path::Path::new(NULL).exists() {
        true => io::Error::new(error.kind(), format!("there is no {NULL}, which every program needs")),
        false => error,
    }
}

/// The result of a program that has ended.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub output: Vec<u8>,
    /// Its standard error.
    pub errors: Vec<u8>,
}

/// Runs a command to its end with `input`, a time limit of `patience` and at most `most` bytes from each of its
/// streams.
///
/// # Errors
/// When it could not be started; of kind [`io::ErrorKind::TimedOut`] or [`io::ErrorKind::FileTooLarge`] if it was
/// killed.
pub fn run(command: &mut Command, input: &[u8], patience: Duration, most: usize) -> io::Result<Finished> {
    let deadline = Instant::now() + patience;
    let supply = Supply { input: Some(input.to_vec()), ..Supply::default() };
    let mut program = Supervised::start(command, supply)?;
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let attended = program.read_until(deadline, patience, &|| false, &mut |stream, bytes| {
        let kept = if stream == Stream::Output { &mut output } else { &mut errors };
        kept.extend_from_slice(bytes);
        if kept.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    match (attended, program.ended()) {
        (Attended::Ended, Some((_, status))) => Ok(Finished { status, output, errors }),
        (Attended::Enough, _) => {
            Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it printed more than {most} bytes")))
        }
        _ => {
            let text = format!("it did not end within {} s", patience.as_secs_f64());
            Err(io::Error::new(io::ErrorKind::TimedOut, text))
        }
    }
}

/// One descriptor of one program.
#[derive(Clone, Copy)]
enum Waited {
    Input,
    Said(Stream),
    End,
}

/// Waits at most `time` for an event of any program, and handles all events: writes input, passes output with the index
/// of the program, detects ends.
///
/// # Errors
/// When the system cannot wait for them.
pub fn serve(
    programs: &mut [Supervised],
    time: Duration,
    receive: &mut dyn FnMut(usize, Stream, &[u8]),
) -> io::Result<()> {
    let (mut set, mut waited) = (PollSet::new(), Vec::new());
    let mut time = time;
    for (place, program) in programs.iter().enumerate() {
        if let Some((pipe, bytes, done)) = &program.input {
            debug_assert!(*done <= bytes.len());
            set.add_writable(pipe.as_fd());
            waited.push((place, Waited::Input));
        }
        if let Some(pipe) = &program.output {
            set.add(pipe.as_fd());
            waited.push((place, Waited::Said(Stream::Output)));
        }
        if let Some(pipe) = &program.errors {
            set.add(pipe.as_fd());
            waited.push((place, Waited::Said(Stream::Errors)));
        }
        match (program.ended, program.watch.descriptor()) {
            (Some(_), _) => {}
            (None, Some(descriptor)) => {
                set.add(descriptor);
                waited.push((place, Waited::End));
            }
            (None, None) => time = time.min(BLIND),
        }
    }
    wait(&mut set, time)?;
    let ready: Vec<(usize, Waited)> = set.ready().map(|at| waited[at]).collect();
    drop(set);
    let mut piece = vec![0; if ready.is_empty() { 0 } else { PIECE }];
    for (place, what) in ready {
        let program = &mut programs[place];
        match what {
            Waited::Input => program.write(),
            Waited::Said(Stream::Output) => {
                take(&mut program.output, &mut piece, &mut |b| receive(place, Stream::Output, b));
            }
            Waited::Said(Stream::Errors) => {
                take(&mut program.errors, &mut piece, &mut |b| receive(place, Stream::Errors, b));
            }
            Waited::End => program.look()?,
        }
    }
    for program in programs.iter_mut().filter(|program| program.watch.descriptor().is_none()) {
        program.look()?;
    }
    Ok(())
}

/// Reads available data; the stream is closed at its end.
fn take<R: Read>(stream: &mut Option<R>, piece: &mut [u8], receive: &mut dyn FnMut(&[u8])) {
    let Some(pipe) = stream else { return };
    match pipe.read(piece) {
        Ok(count) if count > 0 => receive(&piece[..count]),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
        _ => *stream = None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_moves_by_the_time_for_which_the_waiting_process_was_stopped() {
        let millis = Duration::from_millis;
        assert_eq!(stopped(millis(200), millis(60_200)), millis(60_000));
        // A busy machine delays a process too, and an event ends a wait early.
        assert_eq!(stopped(millis(200), millis(700)), Duration::ZERO);
        assert_eq!(stopped(millis(200), millis(3)), Duration::ZERO);
    }
}
