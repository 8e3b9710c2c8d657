//! A TCP stream with a deadline on every wait.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::{Error, Result};

/// Longest wait of one system call. A socket's timeout is set only when it changes, which is rare when all long waits
/// use the same one.
const SLICE: Duration = Duration::from_secs(1);

/// A stream and the current timeouts of its socket.
#[derive(Debug)]
pub(crate) struct TimedStream {
    pub(crate) stream: TcpStream,
    read: Option<Duration>,
    write: Option<Duration>,
}

impl TimedStream {
    pub(crate) const fn new(stream: TcpStream) -> Self {
        Self { stream, read: None, write: None }
    }

    /// Reads the available bytes, or waits for some until the deadline; `None` when nothing arrived.
    pub(crate) fn read(&mut self, into: &mut [u8], deadline: Instant) -> Result<Option<usize>> {
        loop {
            let Some(slice) = slice(deadline) else { return Ok(None) };
            if self.read != Some(slice) {
                self.stream.set_read_timeout(Some(slice)).map_err(Error::gone)?;
                self.read = Some(slice);
            }
            match self.stream.read(into) {
                Ok(0) => return Err(Error::Gone("it closed the connection".to_owned())),
                Ok(count) => return Ok(Some(count)),
                Err(error) if waits(error.kind()) => {}
                Err(error) => return Err(Error::gone(error)),
            }
        }
    }

    /// Fills `into` before the deadline.
    pub(crate) fn read_exact(&mut self, mut into: &mut [u8], deadline: Instant) -> Result<()> {
        while !into.is_empty() {
            let count = self.read(into, deadline)?.ok_or_else(too_slow)?;
            into = &mut into[count..];
        }
        Ok(())
    }

    /// Writes all bytes before the deadline.
    pub(crate) fn write_all(&mut self, mut bytes: &[u8], deadline: Instant) -> Result<()> {
        while !bytes.is_empty() {
            let slice = slice(deadline).ok_or_else(|| Error::Gone("it does not receive, or too slowly".to_owned()))?;
            if self.write != Some(slice) {
                self.stream.set_write_timeout(Some(slice)).map_err(Error::gone)?;
                self.write = Some(slice);
            }
            match self.stream.write(bytes) {
                Ok(0) => return Err(Error::Gone("it no longer receives".to_owned())),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if waits(error.kind()) => {}
                Err(error) => return Err(Error::gone(error)),
            }
        }
        Ok(())
    }
}

pub(crate) fn too_slow() -> Error {
    Error::Gone("it sent nothing, or too slowly".to_owned())
}

pub(crate) fn waits(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// How long one call may wait; `None` after the deadline.
fn slice(deadline: Instant) -> Option<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    (!left.is_zero()).then(|| left.min(SLICE))
}
