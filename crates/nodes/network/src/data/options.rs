//! Options of data sockets.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};

use crate::{Error, Result};

/// Options of data sockets; `None` leaves an option to the system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketOptions {
    /// Receive buffer, bytes: it bounds the window. The effective window differs; see [`Snapshot`](super::TcpSnapshot).
    pub window: Option<u32>,
    /// Send buffer, bytes.
    pub send_buffer: Option<u32>,
    /// `TCP_NODELAY`: small writes do not wait for acknowledgements (RFC 896).
    pub no_delay: bool,
    /// Congestion control: `reno`, `cubic`, `bbr`.
    pub congestion: Option<String>,
    /// Largest segment, bytes.
    pub segment: Option<u16>,
}

/// How often an unanswered request for a connection is repeated: 7 s in all. Linux's own limit is 127 s. A time limit
/// of connect(2) would need a timer, which would be measured; that of the repeats runs anyway.
const REPEATS: u8 = 2;
/// Largest buffer that a client may request, bytes.
const LARGEST: u32 = 64 << 20;

impl SocketOptions {
    /// Checks the values.
    ///
    /// # Errors
    /// Names the invalid one.
    pub fn check(&self) -> Result<()> {
        if [self.window, self.send_buffer].into_iter().flatten().any(|bytes| bytes > LARGEST) {
            return Err(Error::Refused(format!("socket buffers must not exceed {LARGEST} bytes")));
        }
        let odd = |name: &String| {
            name.is_empty() || name.len() > 15 || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        if self.congestion.as_ref().is_some_and(odd) {
            return Err(Error::Refused("the congestion control has an invalid name".to_owned()));
        }
        Ok(())
    }

    /// A TCP socket with these options, before it listens or connects: the window scale is agreed when a connection
    /// begins.
    pub(crate) fn socket(&self, to: SocketAddr) -> Result<Socket> {
        let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))
            .map_err(Error::io("make a socket"))?;
        if let Some(bytes) = self.window {
            os::socket::set_receive_buffer(&socket, bytes as usize)?;
        }
        if let Some(bytes) = self.send_buffer {
            os::socket::set_send_buffer(&socket, bytes as usize)?;
        }
        if let Some(bytes) = self.segment {
            os::socket::set_max_segment(&socket, usize::from(bytes))?;
        }
        if let Some(name) = &self.congestion {
            os::socket::set_congestion(&socket, name)?;
        }
        if self.no_delay {
            os::socket::set_no_delay(&socket, true)?;
        }
        Ok(socket)
    }

    /// Connects with these options.
    pub(crate) fn connect(&self, to: SocketAddr, patience: Duration) -> Result<TcpStream> {
        let socket = self.socket(to)?;
        socket.connect_timeout(&to.into(), patience).map_err(Error::io(format!("connect to {to}")))?;
        Ok(socket.into())
    }

    /// Listens with these options, which connections inherit.
    pub(crate) fn listen(&self, on: SocketAddr) -> Result<std::net::TcpListener> {
        let socket = self.socket(on)?;
        let cannot = || format!("listen on {on}");
        socket.bind(&on.into()).map_err(Error::io(cannot()))?;
        socket.listen(1024).map_err(Error::io(cannot()))?;
        Ok(socket.into())
    }
}

/// A socket for a plain connection, whose connect(2) does not wait for minutes.
pub(crate) fn unconnected(to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    os::socket::set_connect_repeats(&socket, REPEATS).map_err(std::io::Error::other)?;
    Ok(socket.into())
}
