//! A connection with a deadline on every wait, encrypted or not.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustls::{ClientConnection, ServerConnection, StreamOwned};

/// A socket that no longer waits after its deadline.
#[derive(Debug)]
pub(crate) struct Timed {
    stream: TcpStream,
    deadline: Instant,
}

impl Timed {
    pub(crate) fn new(stream: TcpStream, time: Duration) -> Self {
        Self { stream, deadline: Instant::now() + time }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

/// The error of a socket's own timeout is that of the deadline.
fn late(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock { io::ErrorKind::TimedOut.into() } else { error }
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(into).map_err(late)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes).map_err(late)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// A connection of either side.
pub(crate) enum Wire {
    /// Not encrypted.
    Plain(Timed),
    /// The server's end of TLS.
    Server(Box<StreamOwned<ServerConnection, Timed>>),
    /// The client's end of TLS.
    Client(Box<StreamOwned<ClientConnection, Timed>>),
}

/// What is read and written.
trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

impl Wire {
    fn stream(&mut self) -> &mut dyn Stream {
        match self {
            Self::Plain(timed) => timed,
            Self::Server(tls) => tls,
            Self::Client(tls) => tls,
        }
    }

    fn timed(&mut self) -> &mut Timed {
        match self {
            Self::Plain(timed) => timed,
            Self::Server(tls) => &mut tls.sock,
            Self::Client(tls) => &mut tls.sock,
        }
    }

    /// Sets the time that is left from now on.
    pub(crate) fn allow(&mut self, time: Duration) {
        self.timed().deadline = Instant::now() + time;
    }

    /// Says that nothing more is written.
    pub(crate) fn finish(&mut self) {
        if let Self::Server(tls) = self {
            tls.conn.send_close_notify();
            let _ = tls.flush();
        }
        // The other side may have closed already.
        let _ = self.timed().stream.shutdown(std::net::Shutdown::Write);
    }
}

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream().read(into)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream().flush()
    }
}
