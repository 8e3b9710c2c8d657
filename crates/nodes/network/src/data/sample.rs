//! Sampling of flows: blocks, and the state of a connection.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use os::socket::tcp_info;
use serde::{Deserialize, Serialize};

use super::Flows;

/// State of a connection at one moment (`tcp(7)`, `TCP_INFO`). Times in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpSnapshot {
    /// Time since the test began.
    pub at_us: u64,
    /// Smoothed round-trip time.
    pub rtt_us: Option<u64>,
    /// Shortest round-trip time so far.
    #[serde(default)]
    pub min_rtt_us: Option<u64>,
    /// Largest segment that it sends, bytes.
    #[serde(default)]
    pub segment: Option<u64>,
    /// Rate at which it paces its segments, bytes a second; all ones: no limit.
    #[serde(default)]
    pub pacing_rate: Option<u64>,
    /// Most that it may pace at, bytes a second; all ones: no limit.
    #[serde(default)]
    pub max_pacing_rate: Option<u64>,
    /// Segments with data sent so far.
    #[serde(default)]
    pub data_segments: Option<u64>,
    /// Congestion window, segments.
    pub congestion_window: Option<u64>,
    /// Window offered by the receiver, bytes.
    pub send_window: Option<u64>,
    /// Segments retransmitted so far.
    pub retransmits: Option<u64>,
    /// Segments really lost so far: those that the receiver did not report as duplicates.
    pub losses: Option<u64>,
    /// Time with data to send.
    pub busy_us: Option<u64>,
    /// Part of that time in which the receiver's window was the limit.
    pub receiver_limited_us: Option<u64>,
    /// Part of that time in which the send buffer was the limit.
    pub sender_limited_us: Option<u64>,
}

impl TcpSnapshot {
    /// State of a connection now.
    #[must_use]
    pub fn of(stream: &TcpStream, since: Instant) -> Option<Self> {
        let info = tcp_info(stream).ok()?;
        Some(Self {
            at_us: u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX),
            rtt_us: info.rtt_us,
            min_rtt_us: info.min_rtt_us,
            segment: info.segment,
            pacing_rate: info.pacing_rate,
            max_pacing_rate: info.max_pacing_rate,
            data_segments: info.data_segments,
            congestion_window: info.congestion_window,
            send_window: info.send_window,
            retransmits: info.total_retransmits,
            losses: info.losses(),
            busy_us: info.busy_us,
            receiver_limited_us: info.receive_window_limited_us,
            sender_limited_us: info.send_buffer_limited_us,
        })
    }
}

/// Interval of samples.
const INTERVAL: Duration = Duration::from_millis(100);
/// Samples kept, at most.
const MAX_STATES: usize = 2_000;

/// A connection whose state is sampled.
pub(crate) struct WatchedConnection {
    stream: Option<TcpStream>,
    began: Instant,
    last: Option<Instant>,
    states: Vec<TcpSnapshot>,
}

impl WatchedConnection {
    /// Samples a connection, if there is one.
    pub(crate) fn new(stream: Option<&TcpStream>) -> Self {
        let stream = stream.and_then(|stream| stream.try_clone().ok());
        let mut watched = Self { stream, began: Instant::now(), last: None, states: Vec::new() };
        watched.sample(true);
        watched
    }

    /// Takes a sample if one is due, or if `must` is set.
    pub(crate) fn sample(&mut self, must: bool) {
        let due = self.last.is_none_or(|last| last.elapsed() >= INTERVAL) && self.states.len() < MAX_STATES;
        if let (true, Some(stream)) = (due || must, &self.stream) {
            self.last = Some(Instant::now());
            self.states.extend(TcpSnapshot::of(stream, self.began));
        }
    }

    /// The samples.
    pub(crate) fn finish(mut self) -> Vec<TcpSnapshot> {
        self.sample(true);
        self.states
    }
}

/// Counts bytes in blocks of time, from outside the loops that transfer them.
pub(crate) struct Blocks {
    length: Duration,
    wanted: usize,
    next: Instant,
    last: Option<(u64, u64)>,
    done: Vec<(u64, u64)>,
}

impl Blocks {
    /// `wanted` blocks of `length` seconds after a warm-up.
    pub(crate) fn new(warmup: f64, length: f64, wanted: u32) -> Self {
        let next = Instant::now() + Duration::from_secs_f64(warmup);
        Self { length: Duration::from_secs_f64(length), wanted: wanted as usize, next, last: None, done: Vec::new() }
    }

    /// Whether all blocks are complete.
    pub(crate) fn full(&self) -> bool {
        self.done.len() >= self.wanted
    }

    /// Sleeps until the end of the block, at most for `most`; then counts the block if it has ended.
    pub(crate) fn step(&mut self, flows: &Flows, most: Duration) {
        let left = self.next.saturating_duration_since(Instant::now());
        if self.full() || left > most {
            kernels::timer::sleep(most);
            return;
        }
        kernels::timer::sleep(left);
        let seen = (kernels::clock::now(), flows.bytes());
        if let Some((moment, bytes)) = self.last {
            self.done.push((seen.0 - moment, seen.1 - bytes));
        }
        self.last = Some(seen);
        self.next = Instant::now() + self.length;
    }

    /// Nanoseconds and bytes of each block.
    pub(crate) fn finish(self) -> Vec<(u64, u64)> {
        self.done
    }
}
