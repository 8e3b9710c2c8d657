//! The test that a client requests, and the server's report.

use serde::{Deserialize, Serialize};

use crate::data::{Api, CpuUse, EndEvidence, Received, ReceiverWork, SocketOptions, TcpSnapshot, Ways};
use crate::{Error, Result};

/// Limits of a server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeLimits {
    /// Longest test, seconds.
    pub seconds: f64,
    /// Bytes of one test, both directions together, at most.
    pub bytes: u64,
    /// Bytes a second of one test and direction, at most; `None` sets no limit.
    pub bytes_per_second: Option<u64>,
    /// Data connections of one test, at most.
    pub streams: u32,
    /// Control connections at once, at most.
    pub connections: usize,
    /// Longest lease of one client, seconds.
    pub lease: f64,
    /// Longest silence of a client, seconds.
    pub idle: f64,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            seconds: 60.0,
            bytes: 1 << 40,
            bytes_per_second: None,
            streams: 64,
            connections: 16,
            lease: 3600.0,
            idle: 30.0,
        }
    }
}

/// Role of a server in a test with datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Datagrams {
    /// The server counts them.
    Count,
    /// The server counts them, and receives several with one call where its system can (`UDP_GRO`).
    Gather,
    /// The server echoes them.
    Echo,
}

/// One test: data connections of three kinds at once, or datagrams.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeTest {
    /// Connections on which the client sends.
    pub up: u32,
    /// Connections on which the server sends.
    pub down: u32,
    /// Connections on which the server echoes every message.
    pub echo: u32,
    /// Whether the server accepts connections and closes them at once, as long as the test lasts.
    #[serde(default)]
    pub accept: bool,
    /// Datagrams, with connections or instead of them.
    pub datagrams: Option<Datagrams>,
    /// Bytes of one write call.
    pub record: u32,
    /// Bytes of one message of a round trip; 0: those of a write.
    #[serde(default)]
    pub message: u32,
    /// Longest duration of the test, seconds.
    pub seconds: f64,
    /// Warm-up, seconds.
    pub warmup: f64,
    /// Length of a block, seconds.
    pub block: f64,
    /// Number of blocks.
    pub blocks: u32,
    /// Options of the data sockets.
    pub options: SocketOptions,
    /// CPU of the server's data threads; `None` leaves the scheduler free.
    pub cpu: Option<usize>,
    /// The calls by which streams are sent and received.
    #[serde(default)]
    pub api: Api,
    /// Bytes that a receiver reads with one call, at most; 0: those that Prony chooses.
    #[serde(default)]
    pub read: u32,
    /// What the server does with the streams that it receives.
    #[serde(default)]
    pub work: ReceiverWork,
}

/// Largest record, bytes.
const LARGEST: u32 = 1 << 20;
/// Blocks of one test, at most.
const MAX_BLOCKS: u32 = 10_000;

impl ServeTest {
    /// How its streams are sent and received.
    pub(crate) const fn ways(&self) -> Ways {
        Ways { api: self.api, work: self.work, read: self.read }
    }

    /// Bytes of one message of a round trip.
    pub(crate) const fn message(&self) -> u32 {
        if self.message == 0 { self.record } else { self.message }
    }

    /// Checks the test against a server's limits.
    ///
    /// # Errors
    /// Names the limit that it exceeds.
    pub fn check(&self, limits: &ServeLimits) -> Result<()> {
        let refuse = |text: String| Err(Error::Refused(text));
        let streams = u64::from(self.up) + u64::from(self.down) + u64::from(self.echo);
        if streams == 0 && self.datagrams.is_none() && !self.accept {
            return refuse("the test has no connection and no datagrams".to_owned());
        }
        if streams > u64::from(limits.streams) {
            return refuse(format!("{streams} connections; {} are allowed", limits.streams));
        }
        if !(1..=LARGEST).contains(&self.record) || self.message > LARGEST {
            return refuse(format!("records of {} bytes; 1 to {LARGEST} are allowed", self.record));
        }
        let sane = |seconds: f64, most: f64| seconds.is_finite() && (0.0..=most).contains(&seconds);
        if !sane(self.seconds, limits.seconds) || self.seconds <= 0.0 {
            return refuse(format!("a test of up to {} s; {} s are allowed", self.seconds, limits.seconds));
        }
        if !sane(self.warmup, limits.seconds) || !sane(self.block, limits.seconds) || self.blocks > MAX_BLOCKS {
            return refuse("the warm-up and blocks do not fit into the test".to_owned());
        }
        if self.blocks > 0 && self.block < 1e-4 {
            return refuse("blocks must not be shorter than 100 us".to_owned());
        }
        if self.read > LARGEST {
            return refuse(format!("reads of {} bytes; {LARGEST} are allowed", self.read));
        }
        if self.work != ReceiverWork::Bytes && (self.up == 0 || self.down > 0 || self.api != Api::Write) {
            return refuse("messages go from the client to the server, by write".to_owned());
        }
        self.options.check()
    }
}

/// Result of a test at the server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServeReport {
    /// Duration in nanoseconds, and bytes received, of every block, all connections together.
    pub blocks: Vec<(u64, u64)>,
    /// Bytes received.
    pub bytes_up: u64,
    /// Bytes sent.
    pub bytes_down: u64,
    /// Verified received bytes.
    #[serde(default)]
    pub verified_up: u64,
    /// The first connection on which one of these was wrong, and that byte, both counted from 0.
    #[serde(default)]
    pub wrong_up: Option<(u32, u64)>,
    /// Read calls.
    pub reads: u64,
    /// Write calls.
    pub writes: u64,
    /// CPU time of the data threads and of the machine.
    pub cpu: CpuUse,
    /// Datagrams counted.
    pub datagrams: Received,
    /// Connections accepted.
    pub accepted: u64,
    /// Receive buffer granted by the kernel, bytes.
    pub receive_buffer: Option<u64>,
    /// What may have limited the streams at this end.
    #[serde(default)]
    pub evidence: EndEvidence,
    /// State of the first connection on which the server sent, sampled over time.
    pub states: Vec<TcpSnapshot>,
    /// The limit that ended the test early.
    pub cut: Option<String>,
}
