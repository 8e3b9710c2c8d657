//! Ethernet interfaces whose frames a process carries (Linux: `Documentation/networking/tuntap.rst`).

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use crate::error::{Error, Result};

const WHAT: &str = "make a network interface";

/// Makes an interface of this name in the network namespace of the calling thread. It exists as long as the file: every
/// read is one frame that the system sends, every write one that it receives, and neither waits.
pub fn tap(name: &str) -> Result<File> {
    /// `TUNSETIFF` of `linux/if_tun.h`.
    const SET: u32 = 0x4004_54ca;
    const DEVICE: &str = "/dev/net/tun";
    let mut options = File::options();
    let file = options
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(DEVICE)
        .map_err(|error| Error::refused(WHAT, format!("{DEVICE}: {error}")))?;
    // SAFETY: the structure holds numbers only, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero.
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from.cast_signed() as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: an open descriptor, and a structure that is readable and writable for the length of the call.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), SET as _, &raw mut request) };
    crate::error::check(WHAT, answer).map(|_| file)
}
