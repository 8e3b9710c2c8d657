//! A channel over TCP: encrypted JSON messages of bounded size, with a deadline on every call.

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

/// Buffer memory kept between messages, bytes.
const KEPT: usize = 8 << 10;

/// A connection to a peer that knows the same token. After an error it is unusable.
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

    /// The client's side of the handshake, within `timeout` in total.
    ///
    /// # Errors
    /// When the other side is not this service in this version, does not know the token, or is too slow.
    pub fn connect(stream: TcpStream, token: &Token, service: &Service, timeout: Duration) -> Result<Self> {
        let deadline = Instant::now() + timeout;
        // If nothing listens, the kernel may choose the same port as source and connect the socket with itself. This
        // side would then receive its own bytes, and keep the next server from its port.
        if stream.local_addr().ok() == stream.peer_addr().ok() {
            return Err(Error::Gone("no server listens there".to_owned()));
        }
        stream.set_nodelay(true).map_err(Error::io("set a connection up"))?;
        let mut stream = TimedStream::new(stream);
        let mut head = [0; 4];
        stream.read_exact(&mut head, deadline)?;
        let length = u32::from_be_bytes(head) as usize;
        if length > GREETING {
            return Err(Error::Protocol("it sent no prony greeting; is it another program?".to_owned()));
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

    /// Sends a message; the other side's kernel must take it within `timeout`.
    ///
    /// # Errors
    /// When the message is too long, or the other side has disconnected or is too slow.
    pub fn send<T: Serialize>(&mut self, message: &T, timeout: Duration) -> Result<()> {
        let deadline = Instant::now() + timeout;
        self.plain.clear();
        self.frames.clear();
        // Buffers shrink again after a long message.
        self.plain.shrink_to(KEPT);
        self.frames.shrink_to(KEPT);
        self.plain.extend([0; LENGTH]);
        serde_json::to_writer(&mut self.plain, message).map_err(|error| Error::Protocol(error.to_string()))?;
        seal(&mut self.plain, &mut self.cipher, &mut self.frames)?;
        self.stream.write_all(&self.frames, deadline)
    }

    /// Receives a message of at most `most` bytes. The whole message must arrive within `timeout`, so that single bytes
    /// do not keep a reader waiting.
    ///
    /// # Errors
    /// When the other side has disconnected or is too slow, or the message is too long, altered or malformed.
    pub fn receive<T: DeserializeOwned>(&mut self, timeout: Duration, most: usize) -> Result<T> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(message) = self.reader.next(&mut self.cipher, most)? {
                return serde_json::from_slice(&message)
                    .map_err(|error| Error::Protocol(format!("not a valid message: {error}")));
            }
            if !self.read(deadline)? {
                return Err(too_slow());
            }
        }
    }

    /// Waits until the other side begins a message; false when none begins within `timeout`.
    ///
    /// # Errors
    /// When the other side has disconnected.
    pub fn wait(&mut self, timeout: Duration) -> Result<bool> {
        Ok(self.reader.has_bytes() || self.read(Instant::now() + timeout)?)
    }

    fn read(&mut self, deadline: Instant) -> Result<bool> {
        let count = self.stream.read(self.reader.space(), deadline)?;
        self.reader.fill(count.unwrap_or(0));
        Ok(count.is_some())
    }

    /// Whether bytes have arrived, without waiting.
    ///
    /// # Errors
    /// When the other side has disconnected.
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

    /// Address of this side.
    ///
    /// # Errors
    /// When the system does not tell it.
    pub fn local_address(&self) -> Result<SocketAddr> {
        self.stream.stream.local_addr().map_err(Error::io("read the address of the socket"))
    }
}
