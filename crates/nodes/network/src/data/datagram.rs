//! Datagrams: numbered and counted, or echoed, for a client that has presented its ticket.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use kernels::transfer;
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
/// Latest numbers of a step among which a duplicate is detected: about a second at the highest rates. Networks do not
/// delay a datagram by more than this.
const REMEMBERED: u64 = 1 << 20;
/// Numbers whose marks share a word.
const WORD: u64 = u64::BITS as u64;

/// The received ones among the latest numbers of a step, so that memory does not grow with its length.
#[derive(Debug)]
struct RecentNumbers {
    /// A bit for every number, at its place modulo [`REMEMBERED`].
    marks: Vec<u64>,
    /// The number after the greatest that has arrived.
    next: u64,
}

impl RecentNumbers {
    fn new() -> Self {
        Self { marks: vec![0; (REMEMBERED / WORD) as usize], next: 0 }
    }

    /// Marks a number; false if it has arrived before, or is so old that this is unknown.
    fn is_new(&mut self, number: u64) -> bool {
        if number >= self.next {
            // Places of numbers that are forgotten now.
            let all = number - self.next >= REMEMBERED;
            if all {
                self.marks.fill(0);
            } else {
                (self.next..=number).for_each(|one| self.marks[Self::word(one)] &= !Self::bit(one));
            }
            self.next = number + 1;
        } else if self.next - number > REMEMBERED {
            return false;
        }
        let (word, bit) = (Self::word(number), Self::bit(number));
        let new = self.marks[word] & bit == 0;
        self.marks[word] |= bit;
        new
    }

    const fn word(number: u64) -> usize {
        (number % REMEMBERED / WORD) as usize
    }

    const fn bit(number: u64) -> u64 {
        1 << (number % WORD)
    }
}

impl Received {
    /// Counts a datagram; false if it is a duplicate or does not belong to a test.
    fn note(&mut self, header: Header, length: usize, seen: &mut Vec<RecentNumbers>, last: &mut Header) -> bool {
        if header.step >= STEPS || header.number == u64::MAX {
            return false;
        }
        let step = header.step as usize;
        if seen.len() <= step {
            seen.resize_with(step + 1, RecentNumbers::new);
            self.by_step.resize(step + 1, 0);
        }
        if !seen[step].is_new(header.number) {
            self.again += 1;
            return false;
        }
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

/// Counts datagrams until `stop`; all their bytes also count in `flow`. `gathered`: one call receives several, if the
/// system can.
pub(crate) fn count(socket: &UdpSocket, gathered: bool, stop: &AtomicBool, flow: &FlowCounter) -> Received {
    let mut received = Received::default();
    let (mut seen, mut last) = (Vec::new(), Header { step: 0, number: 0 });
    let (mut buffer, mut first) = (vec![0; 1 << 16], None);
    // Without a timeout the loop could not end.
    if socket.set_read_timeout(Some(POLL_INTERVAL)).is_err() {
        return received;
    }
    let gathered = gathered && transfer::gather_datagrams(socket.as_fd()).is_ok();
    while !stop.load(Relaxed) {
        let came = if gathered {
            transfer::receive_gathered(socket.as_fd(), &mut buffer).ok()
        } else {
            socket.recv(&mut buffer).ok().map(|length| (length, length))
        };
        let Some((length, each)) = came else { continue };
        flow.bytes.fetch_add(length as u64, Relaxed);
        for one in buffer[..length].chunks(each.max(1)) {
            if Header::read(one).is_some_and(|header| received.note(header, one.len(), &mut seen, &mut last)) {
                let now = kernels::clock::now();
                received.nanos = now - *first.get_or_insert(now);
            }
        }
    }
    received.socket_drops = os::socket::drops(socket).unwrap_or(0);
    received
}

/// Echoes every datagram until `stop`. The flow counts both directions, the limit one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_step_counts_every_datagram_once_and_keeps_its_memory() {
        let (mut received, mut seen, mut last) = (Received::default(), Vec::new(), Header { step: 0, number: 0 });
        let mut note = |number| received.note(Header { step: 0, number }, 100, &mut seen, &mut last);
        // More than 2^24, and with every fourth one lost.
        let all = (1 << 24) + 1000;
        let arrived = (0..all).filter(|number| number % 4 != 3).filter(|number| note(*number)).count() as u64;
        assert_eq!(arrived, all / 4 * 3);
        assert!(!note(all - 2), "a duplicate");
        assert!(note(all - 5), "late, and not lost");
        assert!(!note(all - 5), "a duplicate of that");
        assert!(!note(all - REMEMBERED - 9), "too old to be known");
        assert!(note(u64::MAX - 1) && !note(u64::MAX - 1) && !note(u64::MAX), "any number is bounded");
        assert_eq!((received.by_step[0], received.again, received.late), (arrived + 2, 4, 1));
        assert_eq!(seen.iter().map(|step| step.marks.len() as u64 * WORD).sum::<u64>(), REMEMBERED);
    }
}
