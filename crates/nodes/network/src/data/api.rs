//! Ways to send the records of a stream, and to receive them.

use std::fs::File;
use std::io::{ErrorKind, IoSlice, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use kernels::transfer::{self, MultishotReceiver, UringSend, UringSender};
use serde::{Deserialize, Serialize};

use super::stream::{FlowClock, FlowCounter, FlowLimit, VERIFIED_EACH};
use crate::pattern::{PERIOD, StreamRecords, table};
use crate::{Error, Result};

/// The calls by which a stream is sent and received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// One `write` for each record, and `read`.
    #[default]
    Write,
    /// One `writev` for eight records.
    Writev,
    /// `send` with `MSG_ZEROCOPY` for each record.
    Zerocopy,
    /// `sendfile` of each record from memory that is a file.
    Sendfile,
    /// io_uring: eight sends with one system call.
    Uring,
    /// The same with zero copy.
    UringZerocopy,
    /// The same from registered memory.
    UringRegistered,
    /// `write`, and one multishot request of io_uring that receives.
    UringMultishot,
}

/// Records that one call of `writev` or io_uring sends.
const TOGETHER: usize = 8;
/// Largest number of zero-copy sends whose pages are not released.
const OUTSTANDING: u64 = 128;
/// The kernel's number for too many pages held by sends (`errno(3)`, Linux).
const ENOBUFS: i32 = 105;
/// Bytes of one piece that a multishot request receives, at most.
const PIECE: usize = 64 << 10;

impl Api {
    /// All, in the order in which they are explained.
    pub const ALL: [Self; 8] = [
        Self::Write,
        Self::Writev,
        Self::Zerocopy,
        Self::Sendfile,
        Self::Uring,
        Self::UringZerocopy,
        Self::UringRegistered,
        Self::UringMultishot,
    ];

    /// Value of the parameter `api`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Writev => "writev",
            Self::Zerocopy => "zerocopy",
            Self::Sendfile => "sendfile",
            Self::Uring => "uring",
            Self::UringZerocopy => "uring_zerocopy",
            Self::UringRegistered => "uring_registered",
            Self::UringMultishot => "uring_multishot",
        }
    }

    const fn ring(self) -> Option<UringSend> {
        match self {
            Self::Uring => Some(UringSend::Plain),
            Self::UringZerocopy => Some(UringSend::Zerocopy),
            Self::UringRegistered => Some(UringSend::Registered),
            _ => None,
        }
    }
}

/// A sender of records, prepared before the clock runs.
pub(crate) enum Sending<'a> {
    Write,
    Writev,
    Zerocopy { sent: u64, done: u64 },
    Sendfile(File),
    Ring(Box<UringSender<'a>>),
}

impl<'a> Sending<'a> {
    /// Prepares a socket.
    ///
    /// # Errors
    /// If the kernel lacks the call.
    pub(crate) fn new(api: Api, stream: &'a TcpStream, records: &'a StreamRecords) -> Result<Self> {
        if let Some(kind) = api.ring() {
            let ring = UringSender::new(stream.as_fd(), records.all(), kind, TOGETHER as u32)?;
            return Ok(Self::Ring(Box::new(ring)));
        }
        Ok(match api {
            Api::Writev => Self::Writev,
            Api::Zerocopy => {
                transfer::allow_zerocopy(stream.as_fd())?;
                Self::Zerocopy { sent: 0, done: 0 }
            }
            Api::Sendfile => {
                let mut file = os::file::in_memory("records").map_err(Error::from)?;
                file.write_all(records.all()).map_err(Error::io("fill a file in memory"))?;
                Self::Sendfile(file)
            }
            _ => Self::Write,
        })
    }

    /// Whether it holds no file that its thread would close.
    pub(crate) const fn has_no_file(&self) -> bool {
        !matches!(self, Self::Sendfile(_) | Self::Ring(_))
    }

    /// Sends what comes after `bytes` bytes of the stream: one record, or several. Returns the bytes taken.
    fn step(&mut self, mut stream: &TcpStream, records: &StreamRecords, bytes: u64, flow: &FlowCounter) -> Result<u64> {
        let place = |number: usize| records.place(bytes + (number * records.length()) as u64);
        let taken = match self {
            Self::Write => {
                let record = records.after(bytes);
                stream.write_all(record).map_err(Error::io("send"))?;
                record.len()
            }
            Self::Writev => {
                let parts: [IoSlice<'_>; TOGETHER] = std::array::from_fn(|number| {
                    IoSlice::new(records.after(bytes + (number * records.length()) as u64))
                });
                stream.write_vectored(&parts).map_err(Error::io("send"))?
            }
            Self::Zerocopy { sent, done } => {
                let taken = match transfer::send_zerocopy(stream.as_fd(), records.after(bytes)) {
                    // Too many pages are held.
                    Err(error) if error.kind() == Some(ErrorKind::OutOfMemory) || error.errno() == Some(ENOBUFS) => 0,
                    taken => taken?,
                };
                *sent += u64::from(taken > 0);
                while let Some(report) = transfer::zerocopy_done(stream.as_fd())? {
                    *done += u64::from(report.sends);
                    flow.copied.store(report.copied, Relaxed);
                }
                if taken == 0 || *sent > *done + OUTSTANDING {
                    kernels::timer::sleep(Duration::from_micros(20));
                }
                taken
            }
            Self::Sendfile(file) => {
                transfer::send_file(stream.as_fd(), file.as_fd(), place(0) as u64, records.length())?
            }
            Self::Ring(ring) => {
                let parts: [(usize, usize); TOGETHER] = std::array::from_fn(|number| (place(number), records.length()));
                let taken = ring.send(&parts)?;
                flow.copied.store(ring.copied, Relaxed);
                taken
            }
        };
        Ok(taken as u64)
    }
}

/// Sends records until `stop` or the end of the connection.
pub(crate) fn send(
    stream: &TcpStream,
    mut sending: Sending<'_>,
    records: &StreamRecords,
    flow: &FlowCounter,
    stop: &AtomicBool,
) {
    let clock = FlowClock::start();
    let (mut bytes, mut calls) = (0, 0);
    while !stop.load(Relaxed) {
        let Ok(taken) = sending.step(stream, records, bytes, flow) else { break };
        calls += u64::from(taken > 0);
        bytes += taken;
        flow.bytes.store(bytes, Relaxed);
    }
    // The other side sees the end of the stream; if it has disconnected already, that is no error.
    let _ = stream.shutdown(Shutdown::Write);
    flow.finish(clock, calls);
}

/// Receives by one multishot request until the end of the stream, and verifies a sample of the bytes.
pub(crate) fn receive_multishot(stream: &TcpStream, flow: &FlowCounter, limit: FlowLimit<'_>) -> Result<()> {
    let mut receiver = MultishotReceiver::new(stream.as_fd(), PIECE)?;
    let (clock, table) = (FlowClock::start(), table(PERIOD));
    let (mut bytes, mut calls) = (0, 0_u64);
    let mut take = |piece: &[u8]| {
        if calls.is_multiple_of(VERIFIED_EACH) {
            flow.verify(&table, bytes, piece);
        }
        calls += 1;
        bytes += piece.len() as u64;
        flow.bytes.store(bytes, Relaxed);
        limit.wait(bytes);
    };
    while receiver.receive(&mut take).unwrap_or(false) && !limit.is_over() {}
    flow.finish(clock, calls);
    Ok(())
}
