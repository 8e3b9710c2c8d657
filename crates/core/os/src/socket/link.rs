//! Switches of a network interface (`netdevice(7)`, `ethtool` of `linux/ethtool.h`).

use std::os::fd::AsRawFd;

use crate::error::{Error, Result, check};

/// Work that an interface takes from the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offload {
    /// Cutting of long TCP segments by the device.
    SegmentTcp,
    /// Cutting of long segments late in the kernel.
    SegmentAny,
    /// Joining of received segments.
    JoinReceived,
}

impl Offload {
    /// Numbers of the requests that read and set it.
    const fn requests(self) -> [u32; 2] {
        match self {
            Self::SegmentTcp => [0x1e, 0x1f],
            Self::SegmentAny => [0x23, 0x24],
            Self::JoinReceived => [0x2b, 0x2c],
        }
    }
}

/// `struct ethtool_value` of the kernel.
#[repr(C)]
struct EthtoolValue {
    request: u32,
    value: u32,
}

const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// Whether an interface has this work done.
pub fn offload(interface: &str, kind: Offload) -> Result<bool> {
    request(interface, EthtoolValue { request: kind.requests()[0], value: 0 }).map(|value| value != 0)
}

/// Has this work done by an interface, or not.
pub fn set_offload(interface: &str, kind: Offload, on: bool) -> Result<()> {
    request(interface, EthtoolValue { request: kind.requests()[1], value: u32::from(on) }).map(drop)
}

/// Sets the loopback interface of the network namespace of this thread up.
pub fn raise_loopback() -> Result<()> {
    const WHAT: &str = "set the loopback interface up";
    let mut asked = named("lo")?;
    let socket = control()?;
    asked.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request names an interface and its flags, and lives until the call returns.
    check(WHAT, unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw mut asked) }).map(drop)
}

fn request(interface: &str, mut value: EthtoolValue) -> Result<u32> {
    let mut asked = named(interface)?;
    let socket = control()?;
    asked.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: the request names an interface and points to a value, both of which live until the call returns.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut asked) };
    check("ask an interface for its offloads", done)?;
    Ok(value.value)
}

/// A socket that serves requests alone.
fn control() -> Result<std::net::UdpSocket> {
    std::net::UdpSocket::bind(("0.0.0.0", 0)).map_err(|error| Error::refused("open a socket", error.to_string()))
}

fn named(interface: &str) -> Result<libc::ifreq> {
    // SAFETY: the structure is numbers and a union of plain data, for which zero bytes are valid.
    let mut asked: libc::ifreq = unsafe { std::mem::zeroed() };
    if interface.len() >= asked.ifr_name.len() {
        return Err(Error::refused("name an interface", format!("{interface} is too long a name")));
    }
    for (place, byte) in asked.ifr_name.iter_mut().zip(interface.bytes()) {
        *place = byte as libc::c_char;
    }
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_joins_segments_or_not() {
        assert!(offload("lo", Offload::JoinReceived).is_ok());
        assert!(offload("no-such-link", Offload::JoinReceived).is_err());
        assert!(offload("a-name-that-is-far-too-long", Offload::SegmentTcp).is_err());
    }
}
