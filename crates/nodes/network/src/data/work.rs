//! What a receiver does with the bytes of its streams: nothing, or the work of an event builder.

use std::hint::black_box;
use std::io::{IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use super::stream::{FlowClock, FlowCounter, FlowLimit, VERIFIED_EACH};
use crate::pattern::{PERIOD, StreamRecords, mixed, table};

/// The work of a receiver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiverWork {
    /// Bytes without a boundary.
    #[default]
    Bytes,
    /// Messages: a header with the number and length, then the payload, each read to its own place.
    Framed,
    /// Events: one thread takes the message of every connection that has the same number.
    Events,
    /// Events that are then read, eight bytes after the other, by a program that uses CPU time for each.
    Filtered,
}

impl ReceiverWork {
    /// Value of the parameter `work`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Framed => "framed",
            Self::Events => "events",
            Self::Filtered => "filter",
        }
    }
}

/// Bytes of a header: the number of the message and the length of its payload.
const HEAD: usize = 16;

/// Sends messages whose payload is the next record, until `stop` or the end of the connection.
pub(crate) fn send_framed(mut stream: &TcpStream, records: &StreamRecords, flow: &FlowCounter, stop: &AtomicBool) {
    let clock = FlowClock::start();
    let mut number = 0_u64;
    let mut message = Vec::with_capacity(HEAD);
    while !stop.load(Relaxed) {
        let payload = records.after(number * records.length() as u64);
        message.clear();
        message.extend_from_slice(&number.to_le_bytes());
        message.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        let mut parts = [IoSlice::new(&message), IoSlice::new(payload)];
        if write_whole(&mut stream, &mut parts).is_err() {
            break;
        }
        number += 1;
        flow.bytes.store(number * payload.len() as u64, Relaxed);
    }
    let _ = stream.shutdown(Shutdown::Write);
    flow.finish(clock, number);
}

fn write_whole(stream: &mut &TcpStream, mut parts: &mut [IoSlice<'_>]) -> std::io::Result<()> {
    while parts.iter().any(|part| !part.is_empty()) {
        let count = stream.write_vectored(parts)?;
        IoSlice::advance_slices(&mut parts, count);
    }
    Ok(())
}

/// Reads messages of `length` bytes from a stream, or one from each of several streams for every event, until one ends.
pub(crate) fn receive_messages(
    streams: &[&TcpStream],
    length: usize,
    is_filtered: bool,
    flows: &[FlowCounter],
    limit: FlowLimit<'_>,
) {
    let clock = FlowClock::start();
    let (table, mut event) = (table(PERIOD), vec![0; streams.len() * length]);
    let mut number = 0_u64;
    'events: while !limit.is_over() {
        for (at, (mut stream, part)) in streams.iter().copied().zip(event.chunks_mut(length)).enumerate() {
            let mut head = [0; HEAD];
            if stream.read_exact(&mut head).is_err()
                || !is_next(&head, number, length)
                || stream.read_exact(part).is_err()
            {
                break 'events;
            }
            let flow = &flows[at];
            if number.is_multiple_of(VERIFIED_EACH) {
                flow.verify(&table, number * length as u64, part);
            }
            flow.bytes.store((number + 1) * length as u64, Relaxed);
        }
        if is_filtered {
            black_box(filter(&event));
        }
        number += 1;
        limit.wait(number * event.len() as u64);
    }
    // One thread does the work of all: its time and calls are those of the first flow.
    for flow in flows.iter().skip(1) {
        flow.ended.store(true, Relaxed);
    }
    flows[0].finish(clock, 2 * number * streams.len() as u64);
}

fn is_next(head: &[u8; HEAD], number: u64, length: usize) -> bool {
    let [first, second] = head.as_chunks::<8>().0 else { return false };
    u64::from_le_bytes(*first) == number && u64::from_le_bytes(*second) == length as u64
}

/// A number that depends on each word of an event and on their order, so that no word can be left out.
fn filter(event: &[u8]) -> u64 {
    event.as_chunks::<8>().0.iter().fold(0, |sum, word| mixed(sum ^ u64::from_le_bytes(*word)))
}

#[cfg(test)]
mod tests {
    use super::super::Flows;
    use super::*;

    #[test]
    fn events_are_taken_whole_from_all_streams_and_verified() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let pair = |_| {
            let from = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (from, listener.accept().unwrap().0)
        };
        let pairs: Vec<(TcpStream, TcpStream)> = (0..3).map(pair).collect();
        let (records, stop) = (StreamRecords::new(5_000), AtomicBool::new(false));
        let (sent, came) = (Flows::new(3), Flows::new(3));
        let streams: Vec<&TcpStream> = pairs.iter().map(|(_, to)| to).collect();
        std::thread::scope(|scope| {
            for ((from, _), flow) in pairs.iter().zip(sent.0.iter()) {
                scope.spawn(|| send_framed(from, &records, flow, &stop));
            }
            scope.spawn(|| receive_messages(&streams, 5_000, true, &came.0, FlowLimit::none()));
            while came.bytes() < 3_000_000 {
                std::thread::yield_now();
            }
            stop.store(true, Relaxed);
        });
        assert!(came.ended() && came.bytes() <= sent.bytes());
        assert!(came.verified() >= 3 * 5_000 && came.wrong().is_none());
        // Each word counts, in its place.
        let words: Vec<u8> = (0..64).collect();
        let mut swapped = words.clone();
        swapped.swap(3, 40);
        assert_ne!(filter(&words), filter(&swapped));
    }
}
