//! What carries bytes between two parties: pipes and sockets, all read and written as files.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use crate::{ProbeError, Unsupported};

/// What a party reads from and writes to; both may be the same socket.
pub(crate) struct PartyLine {
    /// Where its messages come from.
    pub(crate) from: File,
    /// Where its messages go.
    pub(crate) to: File,
}

/// Two lines that end in each other.
pub(crate) type Pair = (PartyLine, PartyLine);

impl PartyLine {
    /// Both directions over one socket.
    ///
    /// # Errors
    /// When its descriptor cannot be duplicated.
    pub(crate) fn over(socket: impl Into<OwnedFd>) -> Result<Self, Unsupported> {
        let from = File::from(socket.into());
        Ok(Self { to: from.try_clone()?, from })
    }

    /// Sends a message whole, in one call where the kernel takes it in one.
    ///
    /// # Errors
    /// When it cannot be sent.
    #[inline]
    pub(crate) fn send(&self, message: &[u8]) -> Result<(), ProbeError> {
        send(&self.to, message)
    }

    /// Receives a message whole; `false` at the end of the input.
    ///
    /// # Errors
    /// When it cannot be received, or ends inside the message.
    #[inline]
    pub(crate) fn receive(&self, message: &mut [u8]) -> Result<bool, ProbeError> {
        receive(&self.from, message)
    }

    /// Receives a message whole.
    ///
    /// # Errors
    /// When it cannot be received, or the peer is gone.
    #[inline]
    pub(crate) fn expect(&self, message: &mut [u8]) -> Result<(), ProbeError> {
        if self.receive(message)? { Ok(()) } else { Err(gone()) }
    }
}

/// Over two pipes.
///
/// # Errors
/// When they cannot be made.
pub(crate) fn pipes() -> Result<Pair, Unsupported> {
    let (near_from, far_to) = pipe()?;
    let (far_from, near_to) = pipe()?;
    Ok((PartyLine { from: near_from, to: near_to }, PartyLine { from: far_from, to: far_to }))
}

/// Over a pair of local stream sockets.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn unix_pair() -> Result<Pair, Unsupported> {
    let (near, far) = UnixStream::pair()?;
    Ok((PartyLine::over(near)?, PartyLine::over(far)?))
}

/// Over two UDP sockets on the loopback, connected to each other.
///
/// # Errors
/// When there is no loopback.
pub(crate) fn udp_pair() -> Result<Pair, Unsupported> {
    let (near, far) = (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
    near.connect(far.local_addr()?)?;
    far.connect(near.local_addr()?)?;
    Ok((PartyLine::over(near)?, PartyLine::over(far)?))
}

/// Over a TCP connection on the loopback, which sends at once (TCP_NODELAY).
///
/// # Errors
/// When there is no loopback.
pub(crate) fn tcp_pair() -> Result<Pair, Unsupported> {
    let (near, far) = tcp_streams()?;
    Ok((PartyLine::over(near)?, PartyLine::over(far)?))
}

/// Both ends of a TCP connection on the loopback, which sends at once (TCP_NODELAY).
///
/// # Errors
/// When there is no loopback.
pub(crate) fn tcp_streams() -> Result<(TcpStream, TcpStream), Unsupported> {
    let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(door.local_addr()?)?;
    let far = accept_from(&door, &near)?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    Ok((near, far))
}

/// The other end of `caller`'s connection. Anybody on this machine may knock: only the one that was called is let in.
///
/// # Errors
/// When accepting fails.
pub(crate) fn accept_from(door: &TcpListener, caller: &TcpStream) -> Result<TcpStream, Unsupported> {
    loop {
        let (stream, address) = door.accept()?;
        if address == caller.local_addr()? {
            return Ok(stream);
        }
    }
}

/// A pipe as two files: reading end, writing end.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn pipe() -> Result<(File, File), Unsupported> {
    let (from, to) = std::io::pipe()?;
    Ok((File::from(OwnedFd::from(from)), File::from(OwnedFd::from(to))))
}

/// Sends a message whole, in one call where the kernel takes it in one.
///
/// # Errors
/// When it cannot be sent.
#[inline]
pub(crate) fn send(to: &File, message: &[u8]) -> Result<(), ProbeError> {
    let mut to = to;
    Ok(to.write_all(message)?)
}

/// Receives a message whole; `false` at the end of the input.
///
/// # Errors
/// When it cannot be received, or ends inside the message.
#[inline]
pub(crate) fn receive(from: &File, message: &mut [u8]) -> Result<bool, ProbeError> {
    let mut from = from;
    let mut filled = 0;
    while filled < message.len() {
        match from.read(&mut message[filled..]) {
            Ok(0) if filled == 0 => return Ok(false),
            Ok(0) => return Err(ProbeError::new("a message ended in its middle")),
            Ok(more) => filled += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// What a lost peer means.
pub(crate) fn gone() -> ProbeError {
    ProbeError::new("the other party ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_carries_bytes_both_ways() {
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
    fn a_lost_peer_is_an_end_and_half_a_message_a_fault() {
        let (near, far) = pipes().unwrap();
        far.send(b"ha").unwrap();
        drop(far);
        assert!(near.receive(&mut [0; 4]).is_err());
        assert!(!near.receive(&mut [0; 4]).unwrap());
        assert!(near.expect(&mut [0; 1]).is_err());
    }
}
