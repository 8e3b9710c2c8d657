//! Socket options below the standard library, and the state of TCP connections.

mod counters;
mod interface;
mod link;
mod link_mode;
mod tap;
mod tcp_info;

pub use counters::{InterfaceCounters, NetworkCounters};
pub use interface::interfaces;
pub use link::{Offload, offload, raise_loopback, set_offload};
pub use link_mode::fastest_mode;
pub use tap::tap;
pub use tcp_info::TcpInfo;

use std::os::fd::{AsFd, AsRawFd};

use rustix::net::sockopt;

use crate::error::{Error, Result, check};

/// Requests a send buffer and returns its bytes; it also ends autotuning. Linux reports twice the requested size,
/// because its own bookkeeping is included (`socket(7)`).
pub fn set_send_buffer(fd: impl AsFd, size: usize) -> Result<usize> {
    let set = sockopt::set_socket_send_buffer_size(&fd, size).and_then(|()| sockopt::socket_send_buffer_size(&fd));
    set.map_err(|error| Error::os("change the send buffer's size", error))
}

/// Bytes of the receive buffer, reported as by [`set_send_buffer`].
pub fn receive_buffer(fd: impl AsFd) -> Result<usize> {
    sockopt::socket_recv_buffer_size(fd).map_err(|error| Error::os("read the receive buffer's size", error))
}

/// Requests a receive buffer and returns the new value of [`receive_buffer`]; it also ends autotuning. For TCP it must
/// precede the connection, which fixes the window scale.
pub fn set_receive_buffer(fd: impl AsFd, size: usize) -> Result<usize> {
    let set = sockopt::set_socket_recv_buffer_size(&fd, size);
    set.map_err(|error| Error::os("change the receive buffer's size", error))?;
    receive_buffer(fd)
}

/// Disables Nagle's algorithm (`true`) or enables it.
pub fn set_no_delay(fd: impl AsFd, on: bool) -> Result<()> {
    sockopt::set_tcp_nodelay(fd, on).map_err(|error| Error::os("change TCP_NODELAY", error))
}

/// Requests a maximum segment size; it must precede the connection.
pub fn set_max_segment(fd: impl AsFd, size: usize) -> Result<()> {
    const WHAT: &str = "change the largest segment";
    let size = i32::try_from(size).map_err(|_| Error::refused(WHAT, format!("{size} bytes are too many")))?;
    set(fd, libc::IPPROTO_TCP, libc::TCP_MAXSEG, size, WHAT)
}

/// Name of the congestion control of a TCP socket: `cubic`, `reno`, `bbr` ...
pub fn congestion(fd: impl AsFd) -> Result<String> {
    sockopt::tcp_congestion(fd).map_err(|error| Error::os("read the congestion control", error))
}

/// Sets the congestion control; `/proc/sys/net/ipv4/tcp_allowed_congestion_control` lists the permitted ones.
pub fn set_congestion(fd: impl AsFd, name: &str) -> Result<()> {
    let set = sockopt::set_tcp_congestion(fd, name);
    set.map_err(|error| Error::os(format!("use the congestion control {name:?}"), error))
}

/// The state of a connection in TCP. The structure of the kernel grows between versions: fields beyond the length that
/// it returned are `None`.
pub fn tcp_info(fd: impl AsFd) -> Result<TcpInfo> {
    let mut raw = [0u8; 512];
    let len = fill(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut raw, "read the state of a TCP connection")?;
    Ok(TcpInfo::parse(&raw[..len]))
}

/// Datagrams or segments that a socket has dropped because its receive buffer was full (`SO_MEMINFO`, Linux 4.12).
pub fn drops(fd: impl AsFd) -> Result<u64> {
    const WHAT: &str = "count the drops of a socket";
    memory(fd, WHAT)?
        .get(8)
        .map(|&drops| u64::from(drops))
        .ok_or_else(|| Error::refused(WHAT, "this kernel does not report it"))
}

/// Current limits of the receive and send buffers in bytes in the kernel, autotuning included (`SO_MEMINFO`).
pub fn effective_buffers(fd: impl AsFd) -> Result<(u64, u64)> {
    const WHAT: &str = "read the buffers of a socket";
    match memory(fd, WHAT)?[..] {
        [_, receive, _, send, ..] => Ok((u64::from(receive), u64::from(send))),
        _ => Err(Error::refused(WHAT, "this kernel does not report it")),
    }
}

fn memory(fd: impl AsFd, what: &'static str) -> Result<Vec<u32>> {
    let mut raw = [0u8; 64];
    let len = fill(fd, libc::SOL_SOCKET, libc::SO_MEMINFO, &mut raw, what)?;
    Ok(raw[..len].as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word)).collect())
}

/// Limits the rate of sending, bytes per second (`SO_MAX_PACING_RATE`, `socket(7)`).
pub fn set_pacing(fd: impl AsFd, bytes_per_second: u32) -> Result<()> {
    set(fd, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, bytes_per_second.cast_signed(), "limit the rate of a socket")
}

/// Limits how often a request for a connection is repeated (`TCP_SYNCNT`, `tcp(7)`). The first repetition comes after 1
/// s, the next after 2 s, then 4 s and so on.
pub fn set_connect_repeats(fd: impl AsFd, repeats: u8) -> Result<()> {
    set(fd, libc::IPPROTO_TCP, libc::TCP_SYNCNT, i32::from(repeats), "limit the repeats of a request to connect")
}

fn fill(fd: impl AsFd, level: i32, name: i32, buffer: &mut [u8], what: &'static str) -> Result<usize> {
    let mut len = buffer.len() as libc::socklen_t;
    // SAFETY: both pointers are valid and writable, and `len` is the size of the buffer; the kernel returns the number
    // of bytes written.
    let answer =
        unsafe { libc::getsockopt(fd.as_fd().as_raw_fd(), level, name, buffer.as_mut_ptr().cast(), &raw mut len) };
    check(what, answer)?;
    Ok((len as usize).min(buffer.len()))
}

fn set(fd: impl AsFd, level: i32, name: i32, value: i32, what: &'static str) -> Result<()> {
    let len = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the pointer is readable and `len` is the size of the value.
    let answer = unsafe { libc::setsockopt(fd.as_fd().as_raw_fd(), level, name, (&raw const value).cast(), len) };
    check(what, answer).map(|_| ())
}
