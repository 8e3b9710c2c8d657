//! Socket options below the standard library, and the state of TCP connections.

mod interface;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod linux;
mod tap;
mod tcp_info;

pub use interface::interfaces;
pub use linux::{congestion, drops, effective_buffers, set_congestion, set_connect_repeats, set_pacing, tcp_info};
pub use tap::tap;
pub use tcp_info::TcpInfo;

use std::os::fd::{AsFd, AsRawFd};

use crate::error::{Error, Result, check};

fn get(fd: impl AsFd, level: i32, name: i32, what: &'static str) -> Result<i32> {
    let mut value: libc::c_int = 0;
    let mut len = size_of_val(&value) as libc::socklen_t;
    // SAFETY: both pointers are valid and writable, and `len` is the size of the value.
    let answer =
        unsafe { libc::getsockopt(fd.as_fd().as_raw_fd(), level, name, (&raw mut value).cast(), &raw mut len) };
    check(what, answer).map(|_| value)
}

fn set(fd: impl AsFd, level: i32, name: i32, value: i32, what: &'static str) -> Result<()> {
    let len = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the pointer is readable and `len` is the size of the value.
    let answer = unsafe { libc::setsockopt(fd.as_fd().as_raw_fd(), level, name, (&raw const value).cast(), len) };
    check(what, answer).map(|_| ())
}

fn bytes(value: usize, what: &'static str) -> Result<i32> {
    i32::try_from(value).map_err(|_| Error::refused(what, format!("{value} bytes are too many")))
}

/// Bytes of the send buffer. Linux reports twice the requested size, because its own bookkeeping is included
/// (`socket(7)`).
pub fn send_buffer(fd: impl AsFd) -> Result<usize> {
    get(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, "read the send buffer's size").map(|n| n as usize)
}

/// Requests a send buffer and returns the new value of [`send_buffer`]; it also ends autotuning.
pub fn set_send_buffer(fd: impl AsFd, size: usize) -> Result<usize> {
    const WHAT: &str = "change the send buffer's size";
    set(&fd, libc::SOL_SOCKET, libc::SO_SNDBUF, bytes(size, WHAT)?, WHAT)?;
    send_buffer(fd)
}

/// Bytes of the receive buffer, reported as for [`send_buffer`].
pub fn receive_buffer(fd: impl AsFd) -> Result<usize> {
    get(fd, libc::SOL_SOCKET, libc::SO_RCVBUF, "read the receive buffer's size").map(|n| n as usize)
}

/// Requests a receive buffer and returns the new value of [`receive_buffer`]; it also ends autotuning. For TCP it must
/// precede the connection, which fixes the window scale.
pub fn set_receive_buffer(fd: impl AsFd, size: usize) -> Result<usize> {
    const WHAT: &str = "change the receive buffer's size";
    set(&fd, libc::SOL_SOCKET, libc::SO_RCVBUF, bytes(size, WHAT)?, WHAT)?;
    receive_buffer(fd)
}

/// Disables Nagle's algorithm (`true`) or enables it.
pub fn set_no_delay(fd: impl AsFd, on: bool) -> Result<()> {
    set(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, i32::from(on), "change TCP_NODELAY")
}

/// Requests a maximum segment size; it must precede the connection.
pub fn set_max_segment(fd: impl AsFd, size: usize) -> Result<()> {
    const WHAT: &str = "change the largest segment";
    set(fd, libc::IPPROTO_TCP, libc::TCP_MAXSEG, bytes(size, WHAT)?, WHAT)
}
