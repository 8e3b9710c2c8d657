//! A channel over TCP: JSON messages, sealed, bounded in size and time.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use snow::TransportState;

use crate::frame::{FrameReader, LENGTH, seal};
use crate::handshake::{self, GREETING, REPLY};
use crate::stream::{TimedStream, too_slow};
use crate::{Error, Result, Service, Token};

/// Memory that a channel keeps for the next message it sends, bytes.
const KEPT: usize = 8 << 10;

/// A connection to a side that knows the same token. After an error nothing more can be sent or received.
#[derive(Debug)]
pub struct Channel {
    stream: TimedStream,
    cipher: TransportState,
    reader: FrameReader,
    plain: Vec<u8>,
    frames: Vec<u8>,
}

impl Channel {
    pub(crate) fn new(stream: TimedStream, cipher: TransportState) -> Self {
        Self { stream, cipher, reader: FrameReader::default(), plain: Vec::new(), frames: Vec::new() }
    }

    /// The client's side of the handshake, all of it within `patience`.
    ///
    /// # Errors
    /// When the other side is no such service of this version, does not know the token, or is too slow.
    pub fn connect(stream: TcpStream, token: &Token, service: &Service, patience: Duration) -> Result<Self> {
        let deadline = Instant::now() + patience;
        // Where nobody listens, a kernel may give the port itself to who tries to reach it, and connect it with itself: it
        // would wait for its own words, and keep the next server from its port.
        if stream.local_addr().ok() == stream.peer_addr().ok() {
            return Err(Error::Gone("nobody listens there".to_owned()));
        }
        stream.set_nodelay(true).map_err(Error::io("set a connection up"))?;
        let mut stream = TimedStream::new(stream);
        let mut head = [0; 4];
        stream.read_exact(&mut head, deadline)?;
        let length = u32::from_be_bytes(head) as usize;
        if length > GREETING {
            return Err(Error::Protocol("it did not greet as prony does; is it another program?".to_owned()));
        }
        let mut greeting = vec![0; length];
        stream.read_exact(&mut greeting, deadline)?;
        let nonce = handshake::read_greeting(&greeting, service)?;
        let (state, first) = handshake::begin(&token.key(service)?, service, &nonce)?;
        stream.write_all(&first, deadline)?;
        let mut reply = [0; REPLY];
        stream.read_exact(&mut reply, deadline)?;
        Ok(Self::new(stream, handshake::complete(state, &reply)?))
    }

    /// Sends a message; the other side's kernel must take it within `patience`.
    ///
    /// # Errors
    /// When the message is too long, or the other side is gone or too slow.
    pub fn send<T: Serialize>(&mut self, message: &T, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        self.plain.clear();
        self.frames.clear();
        // One long message leaves no memory behind.
        self.plain.shrink_to(KEPT);
        self.frames.shrink_to(KEPT);
        self.plain.extend([0; LENGTH]);
        serde_json::to_writer(&mut self.plain, message).map_err(|error| Error::Protocol(error.to_string()))?;
        seal(&mut self.plain, &mut self.cipher, &mut self.frames)?;
        self.stream.write_all(&self.frames, deadline)
    }

    /// Receives a message of at most `most` bytes. The whole of it must come within `patience`: bytes that drip do not keep
    /// a reader.
    ///
    /// # Errors
    /// When the other side is gone or too slow, or what came is too long, altered, or no message.
    pub fn receive<T: DeserializeOwned>(&mut self, patience: Duration, most: usize) -> Result<T> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(message) = self.reader.next(&mut self.cipher, most)? {
                return serde_json::from_slice(&message)
                    .map_err(|error| Error::Protocol(format!("no message: {error}")));
            }
            if !self.read(deadline)? {
                return Err(too_slow());
            }
        }
    }

    /// Waits until the other side begins to say something; false when it said nothing for so long.
    ///
    /// # Errors
    /// When the other side is gone.
    pub fn wait(&mut self, patience: Duration) -> Result<bool> {
        Ok(self.reader.has_bytes() || self.read(Instant::now() + patience)?)
    }

    fn read(&mut self, deadline: Instant) -> Result<bool> {
        let count = self.stream.read(self.reader.space(), deadline)?;
        self.reader.fill(count.unwrap_or(0));
        Ok(count.is_some())
    }

    /// Whether the other side has begun to say something, without waiting.
    ///
    /// # Errors
    /// When the other side is gone.
    pub fn has_input(&self) -> Result<bool> {
        if self.reader.has_bytes() {
            return Ok(true);
        }
        let stream = &self.stream.stream;
        stream.set_nonblocking(true).map_err(Error::gone)?;
        let seen = stream.peek(&mut [0; 1]);
        stream.set_nonblocking(false).map_err(Error::gone)?;
        match seen {
            Ok(0) => Err(Error::Gone("it closed the connection".to_owned())),
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(Error::gone(error)),
        }
    }

    /// The own address.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn local_address(&self) -> Result<SocketAddr> {
        self.stream.stream.local_addr().map_err(Error::io("read the own address"))
    }
}
