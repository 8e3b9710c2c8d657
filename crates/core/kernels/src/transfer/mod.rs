//! Ways to move bytes through a socket besides `read` and `write`, each as one step of a timed loop.

#[cfg(target_os = "linux")]
mod uring;

#[cfg(target_os = "linux")]
pub use uring::{MultishotReceiver, UringSend, UringSender};

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::error::{Error, Result, check, check_size};

/// Allows a socket to send without a copy (`SO_ZEROCOPY`, Linux 4.14).
pub fn allow_zerocopy(socket: BorrowedFd<'_>) -> Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_ZEROCOPY, 1, "allow MSG_ZEROCOPY")
}

/// Sends without a copy where the kernel can; returns the bytes taken. The kernel holds the pages until
/// [`zerocopy_done`] reports the send: bytes that change before are sent changed.
#[inline]
pub fn send_zerocopy(socket: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize> {
    // SAFETY: the slice is readable for its length. The kernel pins its pages and only reads them, so that later use
    // of the memory is sound.
    let sent = unsafe {
        libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_ZEROCOPY | libc::MSG_NOSIGNAL)
    };
    check_size("send with MSG_ZEROCOPY", sent)
}

/// Sends whose pages the kernel has released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZerocopyDone {
    /// Number of sends.
    pub sends: u32,
    /// Whether the kernel copied the bytes after all, as it does over loopback.
    pub copied: bool,
}

/// Takes one report of finished zero-copy sends; `None` if there is none now.
pub fn zerocopy_done(socket: BorrowedFd<'_>) -> Result<Option<ZerocopyDone>> {
    /// `SO_EE_ORIGIN_ZEROCOPY` and `SO_EE_CODE_ZEROCOPY_COPIED` of `linux/errqueue.h`.
    const ORIGIN: u8 = 5;
    const COPIED: u8 = 1;
    // Words, so that the header of a control message is aligned.
    let mut control = [0_u64; 16];
    // SAFETY: the structure holds numbers and pointers, for which zeros are valid.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the structure describes a writable buffer of the stated length, and no data.
    let answer =
        unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) };
    if answer == -1 {
        let error = Error::last("read what zero-copy sends report");
        return if error.kind() == Some(std::io::ErrorKind::WouldBlock) { Ok(None) } else { Err(error) };
    }
    // SAFETY: the kernel filled the structure; the pointer is null or within `control`.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    if header.is_null() {
        return Ok(None);
    }
    // SAFETY: the kernel writes a sock_extended_err into a message of the error queue, within `control`.
    let report: libc::sock_extended_err =
        unsafe { libc::CMSG_DATA(header).cast::<libc::sock_extended_err>().read_unaligned() };
    Ok((report.ee_origin == ORIGIN).then(|| ZerocopyDone {
        sends: report.ee_data.wrapping_sub(report.ee_info).wrapping_add(1),
        copied: report.ee_code & COPIED != 0,
    }))
}

/// Sends `count` bytes of a file from `offset` on without a way through this process; returns the bytes taken.
#[inline]
pub fn send_file(socket: BorrowedFd<'_>, file: BorrowedFd<'_>, offset: u64, count: usize) -> Result<usize> {
    let mut offset = offset as libc::off_t;
    // SAFETY: two open descriptors, and an offset that the call may write.
    let sent = unsafe { libc::sendfile(socket.as_raw_fd(), file.as_raw_fd(), &raw mut offset, count) };
    check_size("send a file", sent)
}

/// Makes a socket cut what one call sends into datagrams of `bytes` (`UDP_SEGMENT`, Linux 4.18).
pub fn segment_datagrams(socket: BorrowedFd<'_>, bytes: u16) -> Result<()> {
    set(
        socket,
        libc::SOL_UDP,
        libc::UDP_SEGMENT,
        i32::from(bytes),
        "send several datagrams with one call (UDP_SEGMENT)",
    )
}

/// Makes a socket receive several datagrams of one size with one call (`UDP_GRO`, Linux 5.0).
pub fn gather_datagrams(socket: BorrowedFd<'_>) -> Result<()> {
    set(socket, libc::SOL_UDP, libc::UDP_GRO, 1, "receive several datagrams with one call (UDP_GRO)")
}

/// Receives datagrams; returns their bytes together, and the size of each but the last.
#[inline]
pub fn receive_gathered(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<(usize, usize)> {
    let mut control = [0_u64; 8];
    let mut place = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: the structure holds numbers and pointers, for which zeros are valid.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut place;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the structure describes writable buffers of the stated lengths.
    let answer = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    let count = check_size("receive datagrams", answer)?;
    // SAFETY: the kernel filled the structure; the pointer is null or within `control`.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    if header.is_null() {
        return Ok((count, count));
    }
    // SAFETY: as above, and not null; the only control message that is asked for holds a number.
    let each = unsafe { libc::CMSG_DATA(header).cast::<libc::c_int>().read_unaligned() };
    Ok((count, usize::try_from(each).unwrap_or(count).clamp(1, count.max(1))))
}

fn set(socket: BorrowedFd<'_>, level: i32, name: i32, value: i32, what: &'static str) -> Result<()> {
    let length = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the pointer is readable and `length` is the size of the value.
    let answer = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), length) };
    check(what, answer).map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsFd;

    use super::*;

    pub(super) fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let from = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (from, listener.accept().unwrap().0)
    }

    #[test]
    fn bytes_sent_without_a_copy_arrive_and_are_reported() {
        let (from, mut to) = pair();
        if let Err(reason) = allow_zerocopy(from.as_fd()) {
            testing::lacks!("{reason}");
            return;
        }
        let bytes: Vec<u8> = (0..40_000_u32).map(|at| at as u8).collect();
        assert_eq!(send_zerocopy(from.as_fd(), &bytes[..30_000]).unwrap(), 30_000);
        let mut came = vec![0; 30_000];
        to.read_exact(&mut came).unwrap();
        assert_eq!(came, bytes[..30_000]);
        let done = (0..2_000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            zerocopy_done(from.as_fd()).unwrap()
        });
        assert_eq!(done.map(|done| done.sends), Some(1));
        assert_eq!(zerocopy_done(from.as_fd()).unwrap(), None);
    }

    #[test]
    fn a_part_of_a_file_is_sent() {
        let (from, mut to) = pair();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        assert_eq!(send_file(from.as_fd(), file.as_fd(), 3, 5).unwrap(), 5);
        let mut came = [0; 5];
        to.read_exact(&mut came).unwrap();
        assert_eq!(&came, b"34567");
    }

    #[test]
    fn one_call_sends_several_datagrams_and_one_receives_them() {
        let [from, to] = [(), ()].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        from.connect(to.local_addr().unwrap()).unwrap();
        if let Err(reason) = segment_datagrams(from.as_fd(), 1_000).and_then(|()| gather_datagrams(to.as_fd())) {
            testing::lacks!("{reason}");
            return;
        }
        assert_eq!(from.send(&[7; 4_500]).unwrap(), 4_500);
        let (mut buffer, mut came) = (vec![0; 65_536], Vec::new());
        while came.iter().sum::<usize>() < 4_500 {
            let (count, each) = receive_gathered(to.as_fd(), &mut buffer).unwrap();
            came.extend(buffer[..count].chunks(each).map(<[u8]>::len));
        }
        assert_eq!(came, [1_000, 1_000, 1_000, 1_000, 500]);
    }
}
