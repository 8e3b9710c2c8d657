//! Sending and receiving by `io_uring(7)`: several sends with one system call, and one request for all that comes.

use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::{IoUring, cqueue, opcode, squeue, types};

use crate::error::{Error, Result};

const SUBMIT: &str = "use io_uring";

/// How a ring sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UringSend {
    /// The kernel copies the bytes.
    Plain,
    /// The kernel sends the pages themselves where it can (Linux 6.0).
    Zerocopy,
    /// The kernel copies from memory that it mapped before.
    Registered,
}

/// A socket to which a ring sends parts of one memory.
pub struct UringSender<'a> {
    ring: IoUring,
    socket: BorrowedFd<'a>,
    memory: &'a [u8],
    kind: UringSend,
    /// Whether the kernel copied bytes that it could have sent without.
    pub copied: bool,
}

/// User data of a notice that pages are released.
const NOTICE: u64 = u64::MAX;
/// `IORING_SEND_ZC_REPORT_USAGE` and `IORING_NOTIF_USAGE_ZC_COPIED` of `linux/io_uring.h`.
const REPORT: u16 = 1 << 3;
const COPIED: u32 = 1 << 31;

impl<'a> UringSender<'a> {
    /// A ring for sends of up to `most` parts at once.
    ///
    /// # Errors
    /// If the kernel has no rings, or forbids them.
    pub fn new(socket: BorrowedFd<'a>, memory: &'a [u8], kind: UringSend, most: u32) -> Result<Self> {
        let ring = IoUring::builder()
            .setup_cqsize(4_096)
            .build(most.next_power_of_two())
            .map_err(|error| Error::os(SUBMIT, error))?;
        if kind == UringSend::Registered {
            let whole = libc::iovec { iov_base: memory.as_ptr().cast_mut().cast(), iov_len: memory.len() };
            // SAFETY: the memory lives longer than the ring, and the ring only reads it.
            unsafe { ring.submitter().register_buffers(&[whole]) }
                .map_err(|error| Error::os("register memory with io_uring", error))?;
        }
        Ok(Self { ring, socket, memory, kind, copied: false })
    }

    fn entry(&self, place: usize, length: usize) -> squeue::Entry {
        let (fd, bytes) = (types::Fd(self.socket.as_raw_fd()), &self.memory[place..place + length]);
        let flags = libc::MSG_WAITALL | libc::MSG_NOSIGNAL;
        match self.kind {
            UringSend::Plain => opcode::Send::new(fd, bytes.as_ptr(), length as u32).flags(flags).build(),
            UringSend::Zerocopy => {
                opcode::SendZc::new(fd, bytes.as_ptr(), length as u32).flags(flags).zc_flags(REPORT).build()
            }
            UringSend::Registered => opcode::WriteFixed::new(fd, bytes.as_ptr(), length as u32, 0).build(),
        }
    }

    /// Sends these parts of the memory (place and length), one after the other, and waits for all. Returns the bytes
    /// taken in a row.
    ///
    /// # Errors
    /// The error of the first part, if none of its bytes was taken.
    ///
    /// # Panics
    /// If a part is not within the memory, or there are more parts than the ring is made for.
    pub fn send(&mut self, parts: &[(usize, usize)]) -> Result<usize> {
        for (index, (place, length)) in parts.iter().enumerate() {
            // A part is sent after the one before, and not at all after one that was cut short.
            let linked = if index + 1 < parts.len() { squeue::Flags::IO_LINK } else { squeue::Flags::empty() };
            let entry = self.entry(*place, *length).user_data(index as u64).flags(linked);
            // SAFETY: the memory and the socket outlive the ring, and the kernel only reads the memory.
            unsafe { self.ring.submission().push(&entry) }.map_err(|_| Error::refused(SUBMIT, "its queue is full"))?;
        }
        let mut results = vec![None; parts.len()];
        while results.contains(&None) {
            match self.ring.submit_and_wait(1) {
                Err(error) if error.raw_os_error() != Some(libc::EINTR) => return Err(Error::os(SUBMIT, error)),
                _ => {}
            }
            for done in self.ring.completion() {
                if cqueue::notif(done.flags()) {
                    self.copied |= done.result().cast_unsigned() == COPIED;
                } else if done.user_data() != NOTICE {
                    results[done.user_data() as usize] = Some(done.result());
                }
            }
        }
        let mut taken = 0;
        for (result, (_, length)) in results.into_iter().flatten().zip(parts) {
            match usize::try_from(result) {
                Ok(count) => taken += count,
                Err(_) if taken > 0 => break,
                Err(_) => return Err(Error::os("send by io_uring", std::io::Error::from_raw_os_error(-result))),
            }
            if result as usize != *length {
                break;
            }
        }
        Ok(taken)
    }
}

/// Receives all that comes on a socket by one request, into memory that the kernel chooses from (Linux 6.0).
pub struct MultishotReceiver<'a> {
    ring: IoUring,
    socket: BorrowedFd<'a>,
    /// Not freed while the kernel may still write into it.
    memory: ManuallyDrop<Vec<u8>>,
    piece: usize,
    armed: bool,
}

/// User data of the request to receive; buffers that are given back have [`NOTICE`].
const RECEIVE: u64 = 1;
/// Pieces of the memory.
const PIECES: u16 = 16;
/// The group of the pieces.
const GROUP: u16 = 1;

impl<'a> MultishotReceiver<'a> {
    /// A ring that receives pieces of at most `piece` bytes.
    ///
    /// # Errors
    /// If the kernel has no rings, or forbids them.
    pub fn new(socket: BorrowedFd<'a>, piece: usize) -> Result<Self> {
        let ring = IoUring::new(64).map_err(|error| Error::os(SUBMIT, error))?;
        let memory = ManuallyDrop::new(vec![0; piece * usize::from(PIECES)]);
        let mut receiver = Self { ring, socket, memory, piece, armed: false };
        receiver.give(0, PIECES)?;
        Ok(receiver)
    }

    /// Gives pieces to the kernel.
    fn give(&mut self, first: u16, count: u16) -> Result<()> {
        let place = self.memory[usize::from(first) * self.piece..].as_mut_ptr();
        let entry = opcode::ProvideBuffers::new(place, self.piece as i32, count, GROUP, first).build();
        self.push(&entry.user_data(NOTICE))
    }

    fn push(&mut self, entry: &squeue::Entry) -> Result<()> {
        // SAFETY: the socket outlives the ring. The memory is owned, and stays allocated while a request is armed.
        unsafe { self.ring.submission().push(entry) }.map_err(|_| Error::refused(SUBMIT, "its queue is full"))
    }

    /// Waits for bytes and calls `take` with each piece that came; false at the end of the stream.
    ///
    /// # Errors
    /// The error of the socket or of the ring.
    pub fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool> {
        if !self.armed {
            let entry = opcode::RecvMulti::new(types::Fd(self.socket.as_raw_fd()), GROUP).build();
            self.push(&entry.user_data(RECEIVE))?;
            self.armed = true;
        }
        match self.ring.submit_and_wait(1) {
            Err(error) if error.raw_os_error() != Some(libc::EINTR) => return Err(Error::os(SUBMIT, error)),
            _ => {}
        }
        let done: Vec<(u64, i32, u32)> =
            self.ring.completion().map(|done| (done.user_data(), done.result(), done.flags())).collect();
        for (_, result, flags) in done.into_iter().filter(|(data, ..)| *data == RECEIVE) {
            self.armed = cqueue::more(flags);
            if result == 0 {
                return Ok(false);
            }
            // All pieces are in use: the next request gets those that were given back.
            if result == -libc::ENOBUFS {
                continue;
            }
            let count = usize::try_from(result)
                .map_err(|_| Error::os("receive by io_uring", std::io::Error::from_raw_os_error(-result)))?;
            let Some(piece) = cqueue::buffer_select(flags) else { continue };
            take(&self.memory[usize::from(piece) * self.piece..][..count.min(self.piece)]);
            self.give(piece, 1)?;
        }
        Ok(true)
    }
}

impl Drop for MultishotReceiver<'_> {
    fn drop(&mut self) {
        if !self.armed {
            // SAFETY: no request is armed, so the kernel writes no more, and the memory is not used after this.
            unsafe { ManuallyDrop::drop(&mut self.memory) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    use super::super::tests::pair;
    use super::*;

    #[test]
    fn parts_arrive_in_their_order_by_each_kind_of_send() {
        let memory: Vec<u8> = (0..100_000_u32).map(|at| (at % 251) as u8).collect();
        for kind in [UringSend::Plain, UringSend::Zerocopy, UringSend::Registered] {
            let (from, mut to) = pair();
            let mut sender = match UringSender::new(from.as_fd(), &memory, kind, 8) {
                Ok(sender) => sender,
                Err(reason) => {
                    testing::lacks!("{reason}");
                    return;
                }
            };
            let parts = [(0, 1_000), (5_000, 3_000), (99_000, 1_000)];
            assert_eq!(sender.send(&parts).unwrap(), 5_000, "{kind:?}");
            let mut came = vec![0; 5_000];
            to.read_exact(&mut came).unwrap();
            let sent: Vec<u8> =
                parts.iter().flat_map(|(place, length)| &memory[*place..place + length]).copied().collect();
            assert_eq!(came, sent, "{kind:?}");
            drop(to);
            // After the other end has gone, an error comes, and no endless wait.
            assert!((0..100).any(|_| sender.send(&parts).is_err()), "{kind:?}");
        }
    }

    #[test]
    fn one_request_receives_more_than_all_pieces_hold() {
        let (mut from, to) = pair();
        let mut receiver = match MultishotReceiver::new(to.as_fd(), 1_000) {
            Ok(receiver) => receiver,
            Err(reason) => {
                testing::lacks!("{reason}");
                return;
            }
        };
        let bytes: Vec<u8> = (0..100_000_u32).map(|at| (at % 253) as u8).collect();
        let mut came = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                from.write_all(&bytes).unwrap();
                from.shutdown(std::net::Shutdown::Write).unwrap();
            });
            while receiver.receive(&mut |piece| came.extend_from_slice(piece)).unwrap() {}
        });
        assert!(came == bytes, "{} bytes", came.len());
    }
}
