//! This process's ends of pipes to and from a child, with time limits on writes and reads.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use kernels::poll::PollSet;

use super::EndWatch;
use crate::error::{Error, Result};

/// Time for which output is still read after a program has ended while a process that it started holds its pipes.
pub(super) const HELD: Duration = Duration::from_millis(100);

/// Bytes that such a process may still add in that time: the largest pipe of an unprivileged user.
pub(super) const HELD_BYTES: usize = 1 << 20;

/// Interval at which a reader checks whether the child has ended, if no descriptor reports it.
const LOOK: Duration = Duration::from_millis(100);

/// Makes reads and writes of this end non-blocking; the child's end is not affected.
pub(super) fn set_nonblocking(end: impl AsFd) -> Result<()> {
    rustix::io::ioctl_fionbio(end, true).map_err(|error| Error::os("change the flags of a pipe", error))
}

/// A child's standard input: a write that the child does not accept within the time limit is an error.
#[derive(Debug)]
pub struct TimedInput {
    pipe: ChildStdin,
    patience: Duration,
}

impl TimedInput {
    /// Writes with this time limit for each call.
    ///
    /// # Errors
    /// When the pipe could not be made non-blocking.
    pub fn new(pipe: ChildStdin, patience: Duration) -> Result<Self> {
        set_nonblocking(&pipe)?;
        Ok(Self { pipe, patience })
    }
}

impl Write for TimedInput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let deadline = Instant::now() + self.patience;
        loop {
            match self.pipe.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                answer => return answer,
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let text = format!("it accepted no data for {} s", self.patience.as_secs_f64());
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            let mut set = PollSet::new();
            set.add_writable(self.pipe.as_fd());
            wait(&mut set, left)?;
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A child's standard output, which ends with the child itself: a process that the child started may hold the pipe open
/// for as long as it runs.
#[derive(Debug)]
pub struct EndingOutput {
    pipe: ChildStdout,
    watch: EndWatch,
    ended: Option<Instant>,
    /// Bytes read since the child ended.
    late: usize,
}

impl EndingOutput {
    /// The output of the child with this number, which was not waited for yet.
    ///
    /// # Errors
    /// When the pipe could not be made non-blocking.
    pub fn new(pipe: ChildStdout, pid: i32) -> Result<Self> {
        set_nonblocking(&pipe)?;
        Ok(Self { pipe, watch: EndWatch::new(pid), ended: None, late: 0 })
    }
}

impl Read for EndingOutput {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.late > HELD_BYTES {
                return Ok(0);
            }
            match self.pipe.read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(count) => {
                    self.late += if self.ended.is_some() { count } else { 0 };
                    return Ok(count);
                }
                Err(error) => return Err(error),
            }
            if self.ended.is_some_and(|ended| ended.elapsed() > HELD) {
                return Ok(0);
            }
            let mut set = PollSet::new();
            set.add(self.pipe.as_fd());
            if let Some(descriptor) = self.watch.descriptor().filter(|_| self.ended.is_none()) {
                set.add(descriptor);
            }
            // If a descriptor reports the end, no checks in between are needed.
            let blind = self.watch.descriptor().is_none() || self.ended.is_some();
            wait(&mut set, if blind { LOOK } else { Duration::from_secs(3600) })?;
            if self.ended.is_none() && self.watch.ended().unwrap_or(true) {
                self.ended = Some(Instant::now());
            }
        }
    }
}

/// Waits at most `time`; an interrupted wait is a short one.
pub(super) fn wait(set: &mut PollSet<'_>, time: Duration) -> io::Result<()> {
    match set.wait(Some(time)) {
        Ok(_) => Ok(()),
        Err(error) if error.errno() == Some(libc::EINTR) => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    }
}
