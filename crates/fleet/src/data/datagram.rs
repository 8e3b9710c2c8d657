//! Datagrams: numbered and counted, or echoed, for a client that has presented its ticket.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::stream::{FlowCounter, FlowLimit};
use crate::{Error, Result};

/// Size of the header of a counted datagram, bytes.
pub(crate) const HEADER: usize = 16;
/// Interval at which a receiver checks whether to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Time limit for the first datagram.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Header of a counted datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Step of a ladder of rates.
    pub(crate) step: u64,
    /// Number within the step, from 0.
    pub(crate) number: u64,
}

impl Header {
    pub(crate) fn write(self, into: &mut [u8]) {
        into[..8].copy_from_slice(&self.step.to_le_bytes());
        into[8..HEADER].copy_from_slice(&self.number.to_le_bytes());
    }

    fn read(from: &[u8]) -> Option<Self> {
        let (step, rest) = from.split_first_chunk::<8>()?;
        let number = rest.first_chunk::<8>()?;
        Some(Self { step: u64::from_le_bytes(*step), number: u64::from_le_bytes(*number) })
    }
}

/// Counters of received datagrams.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// Distinct datagrams, by step of the ladder.
    pub by_step: Vec<u64>,
    /// Bytes of all datagrams.
    pub bytes: u64,
    /// Duplicates.
    pub again: u64,
    /// Datagrams that arrived after a later one.
    pub late: u64,
    /// Datagrams dropped because the socket's buffer was full, by the kernel's count.
    pub socket_drops: u64,
    /// Time from the first to the last of the distinct ones, nanoseconds.
    #[serde(default)]
    pub nanos: u64,
}

/// Steps of a ladder, at most.
const STEPS: u64 = 256;
/// Datagrams of one step for which duplicates are detected.
const REMEMBERED: u64 = 1 << 24;

impl Received {
    /// Counts a datagram; false if it is a duplicate or none of a test.
    fn note(&mut self, header: Header, length: usize, seen: &mut Vec<Vec<u64>>, last: &mut Header) -> bool {
        if header.step >= STEPS || header.number >= REMEMBERED {
            return false;
        }
        let step = header.step as usize;
        if seen.len() <= step {
            seen.resize_with(step + 1, Vec::new);
            self.by_step.resize(step + 1, 0);
        }
        let (word, bit) = ((header.number / 64) as usize, header.number % 64);
        let words = &mut seen[step];
        if words.len() <= word {
            words.resize(word + 1, 0);
        }
        if words[word] >> bit & 1 == 1 {
            self.again += 1;
            return false;
        }
        words[word] |= 1 << bit;
        self.by_step[step] += 1;
        self.bytes += length as u64;
        if (header.step, header.number) < (last.step, last.number) {
            self.late += 1;
        } else {
            *last = header;
        }
        true
    }
}

/// Waits for a datagram with the ticket, answers it, and from then on receives from and sends to that address alone.
/// The answer is never longer than the question, so that it cannot serve for amplification with a forged address.
pub(crate) fn welcome(socket: &UdpSocket, ticket: &str) -> Result<SocketAddr> {
    let deadline = Instant::now() + TIMEOUT;
    let mut buffer = [0; 64];
    socket.set_read_timeout(Some(POLL_INTERVAL)).map_err(Error::io("wait for a datagram"))?;
    while Instant::now() < deadline {
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        let said = &buffer[..length];
        if channel::equal_in_constant_time(said, ticket.as_bytes()) {
            socket.connect(from).map_err(Error::io("answer one address only"))?;
            socket.send(&said[..1]).map_err(Error::io("answer a datagram"))?;
            return Ok(from);
        }
    }
    Err(Error::Gone("its datagrams did not arrive".to_owned()))
}

/// The client's side of [`welcome`]: presents the ticket until it is answered.
pub(crate) fn greet(socket: &UdpSocket, ticket: &str) -> Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    socket.set_read_timeout(Some(POLL_INTERVAL)).map_err(Error::io("wait for a datagram"))?;
    while Instant::now() < deadline {
        // A refused or lost datagram is sent again.
        let _ = socket.send(ticket.as_bytes());
        let mut answer = [0; 1];
        if matches!(socket.recv(&mut answer), Ok(1)) {
            return Ok(());
        }
    }
    Err(Error::Gone("its datagrams were not answered".to_owned()))
}

/// Counts datagrams until told to stop; their bytes, of whatever contents, are also counted in `flow`.
pub(crate) fn count(socket: &UdpSocket, stop: &AtomicBool, flow: &FlowCounter) -> Received {
    let mut received = Received::default();
    let (mut seen, mut last) = (Vec::new(), Header { step: 0, number: 0 });
    let (mut buffer, mut first) = (vec![0; 1 << 16], None);
    // Without a timeout the loop could not end.
    if socket.set_read_timeout(Some(POLL_INTERVAL)).is_err() {
        return received;
    }
    while !stop.load(Relaxed) {
        let Ok(length) = socket.recv(&mut buffer) else { continue };
        flow.bytes.fetch_add(length as u64, Relaxed);
        if Header::read(&buffer[..length]).is_some_and(|header| received.note(header, length, &mut seen, &mut last)) {
            let now = sys::clock::now();
            received.nanos = now - *first.get_or_insert(now);
        }
    }
    received.socket_drops = sys::socket::drops(socket).unwrap_or(0);
    received
}

/// Echoes every datagram until told to stop. The flow counts both directions, the limit one.
pub(crate) fn echo_datagrams(socket: &UdpSocket, stop: &AtomicBool, flow: &FlowCounter, limit: FlowLimit<'_>) {
    let mut buffer = vec![0; 1 << 16];
    if socket.set_read_timeout(Some(POLL_INTERVAL)).is_err() {
        return;
    }
    while !stop.load(Relaxed) {
        if let Ok(length) = socket.recv(&mut buffer) {
            // A datagram that cannot be sent counts as lost at the other side.
            let _ = socket.send(&buffer[..length]);
            let both = flow.bytes.fetch_add(2 * length as u64, Relaxed) + 2 * length as u64;
            limit.wait(both / 2);
        }
    }
}
