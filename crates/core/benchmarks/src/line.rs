//! Connections between two parties: pipes and sockets, all read and written as files.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use crate::{BenchmarkError, Unsupported};

/// The files of one party for reading and writing; both may be the same socket.
pub(crate) struct PartyLine {
    /// Input.
    pub(crate) from: File,
    /// Output.
    pub(crate) to: File,
}

/// Two connected lines.
pub(crate) type LinePair = (PartyLine, PartyLine);

impl PartyLine {
    /// Both directions over one socket.
    ///
    /// # Errors
    /// When its descriptor could not be duplicated.
    pub(crate) fn over(socket: impl Into<OwnedFd>) -> Result<Self, Unsupported> {
        let from = File::from(socket.into());
        Ok(Self { to: from.try_clone()?, from })
    }

    /// Sends a whole message, with one call if the kernel accepts it in one.
    ///
    /// # Errors
    /// When it could not be sent.
    #[inline]
    pub(crate) fn send(&self, message: &[u8]) -> Result<(), BenchmarkError> {
        send(&self.to, message)
    }

    /// Receives a whole message; `false` at the end of the input.
    ///
    /// # Errors
    /// When it could not be received, or the input ends inside the message.
    #[inline]
    pub(crate) fn receive(&self, message: &mut [u8]) -> Result<bool, BenchmarkError> {
        receive(&self.from, message)
    }

    /// Receives a whole message.
    ///
    /// # Errors
    /// When it could not be received, or the peer has ended.
    #[inline]
    pub(crate) fn expect(&self, message: &mut [u8]) -> Result<(), BenchmarkError> {
        if self.receive(message)? { Ok(()) } else { Err(peer_ended()) }
    }
}

/// Over two pipes.
///
/// # Errors
/// When they could not be created.
pub(crate) fn pipes() -> Result<LinePair, Unsupported> {
    let (near_from, far_to) = pipe()?;
    let (far_from, near_to) = pipe()?;
    Ok((PartyLine { from: near_from, to: near_to }, PartyLine { from: far_from, to: far_to }))
}

/// Over a pair of local stream sockets.
///
/// # Errors
/// When it could not be created.
pub(crate) fn unix_pair() -> Result<LinePair, Unsupported> {
    let (near, far) = UnixStream::pair()?;
    Ok((PartyLine::over(near)?, PartyLine::over(far)?))
}

/// Over two UDP sockets on the loopback, connected to each other.
///
/// # Errors
/// When there is no loopback.
pub(crate) fn udp_pair() -> Result<LinePair, Unsupported> {
    let (near, far) = (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
    near.connect(far.local_addr()?)?;
    far.connect(near.local_addr()?)?;
    Ok((PartyLine::over(near)?, PartyLine::over(far)?))
}

/// Over a TCP connection on the loopback with TCP_NODELAY.
///
/// # Errors
/// When there is no loopback.
pub(crate) fn tcp_pair() -> Result<LinePair, Unsupported> {
    let (near, far) = tcp_streams()?;
    Ok((PartyLine::over(near)?, PartyLine::over(far)?))
}

/// Both ends of a TCP connection on the loopback with TCP_NODELAY.
///
/// # Errors
/// When there is no loopback.
pub(crate) fn tcp_streams() -> Result<(TcpStream, TcpStream), Unsupported> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let far = accept_from(&listener, &near)?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    Ok((near, far))
}

/// The other end of `caller`'s connection. Connections from other addresses are closed: any process on this machine may
/// connect.
///
/// # Errors
/// When accepting fails.
pub(crate) fn accept_from(listener: &TcpListener, caller: &TcpStream) -> Result<TcpStream, Unsupported> {
    loop {
        let (stream, address) = listener.accept()?;
        if address == caller.local_addr()? {
            return Ok(stream);
        }
    }
}

/// A pipe as two files: reading end, writing end.
///
/// # Errors
/// When it could not be created.
pub(crate) fn pipe() -> Result<(File, File), Unsupported> {
    let (from, to) = std::io::pipe()?;
    Ok((File::from(OwnedFd::from(from)), File::from(OwnedFd::from(to))))
}

/// Sends a whole message, with one call if the kernel accepts it in one.
///
/// # Errors
/// When it could not be sent.
#[inline]
pub(crate) fn send(to: &File, message: &[u8]) -> Result<(), BenchmarkError> {
    let mut to = to;
    Ok(to.write_all(message)?)
}

/// Receives a whole message; `false` at the end of the input.
///
/// # Errors
/// When it could not be received, or the input ends inside the message.
#[inline]
pub(crate) fn receive(from: &File, message: &mut [u8]) -> Result<bool, BenchmarkError> {
    let mut from = from;
    let mut filled = 0;
    while filled < message.len() {
        match from.read(&mut message[filled..]) {
            Ok(0) if filled == 0 => return Ok(false),
            Ok(0) => return Err(BenchmarkError::new("the input ended inside a message")),
            Ok(more) => filled += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

pub(crate) fn peer_ended() -> BenchmarkError {
    BenchmarkError::new("the other party ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_transfers_bytes_in_both_directions() {
        for (near, far) in [pipes(), unix_pair(), udp_pair(), tcp_pair()].map(Result::unwrap) {
            let mut message = [0; 4];
            near.send(b"ping").unwrap();
            far.expect(&mut message).unwrap();
            assert_eq!(&message, b"ping");
            far.send(b"pong").unwrap();
            near.expect(&mut message).unwrap();
            assert_eq!(&message, b"pong");
        }
    }

    #[test]
    fn an_ended_peer_ends_the_input_and_half_a_message_is_an_error() {
        let (near, far) = pipes().unwrap();
        far.send(b"ha").unwrap();
        drop(far);
        assert!(near.receive(&mut [0; 4]).is_err());
        assert!(!near.receive(&mut [0; 4]).unwrap());
        assert!(near.expect(&mut [0; 1]).is_err());
    }
}
