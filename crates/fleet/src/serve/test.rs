//! What a client asks a server to measure with it, and what the server saw.

use serde::{Deserialize, Serialize};

use crate::data::{CpuUse, Received, SocketOptions, TcpSnapshot};
use crate::{Error, Result};

/// What a server allows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeLimits {
    /// Longest test, seconds.
    pub seconds: f64,
    /// Most bytes of one test, both directions together.
    pub bytes: u64,
    /// Most bytes a second of one test and direction; `None` sets no limit.
    pub bytes_per_second: Option<u64>,
    /// Most data connections of one test.
    pub streams: u32,
    /// Most control connections at once.
    pub connections: usize,
    /// Longest turn of one client, seconds.
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

/// Datagrams, as a server takes part in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Datagrams {
    /// It counts them.
    Count,
    /// It sends each back.
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
    /// Connections on which the server answers every message.
    pub echo: u32,
    /// Whether the server takes connections and closes them at once, as long as the test lasts.
    #[serde(default)]
    pub accept: bool,
    /// Datagrams, beside or instead of connections.
    pub datagrams: Option<Datagrams>,
    /// Bytes of one write call.
    pub record: u32,
    /// Bytes of one message of a round trip; 0 stands for those of a write.
    #[serde(default)]
    pub message: u32,
    /// Longest time of the test, seconds.
    pub seconds: f64,
    /// Seconds before the first block counts.
    pub warmup: f64,
    /// Seconds of one block.
    pub block: f64,
    /// Blocks to count.
    pub blocks: u32,
    /// Of the data sockets.
    pub options: SocketOptions,
    /// CPU of the server's data threads; `None` leaves the scheduler free.
    pub cpu: Option<usize>,
}

/// Largest record, bytes.
const LARGEST: u32 = 1 << 20;
/// Most blocks of one test.
const MOST_BLOCKS: u32 = 10_000;

impl ServeTest {
    /// Bytes of one message of a round trip.
    pub(crate) const fn message(&self) -> u32 {
        if self.message == 0 { self.record } else { self.message }
    }

    /// Whether a server with these limits will do it.
    ///
    /// # Errors
    /// Says which limit it exceeds.
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
            return refuse(format!("{} seconds; {} are allowed", self.seconds, limits.seconds));
        }
        if !sane(self.warmup, limits.seconds) || !sane(self.block, limits.seconds) || self.blocks > MOST_BLOCKS {
            return refuse("warm-up or blocks that do not fit into the test".to_owned());
        }
        if self.blocks > 0 && self.block < 1e-4 {
            return refuse("blocks shorter than 100 us".to_owned());
        }
        self.options.check()
    }
}

/// What a server saw of a test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServeReport {
    /// Nanoseconds and bytes received of every block, all connections together.
    pub blocks: Vec<(u64, u64)>,
    /// Bytes received.
    pub bytes_up: u64,
    /// Bytes sent.
    pub bytes_down: u64,
    /// Read calls.
    pub reads: u64,
    /// Write calls.
    pub writes: u64,
    /// CPU time of the data threads and of the machine.
    pub cpu: CpuUse,
    /// Datagrams counted.
    pub datagrams: Received,
    /// Connections taken.
    pub accepted: u64,
    /// Bytes of the receive buffer that the kernel gave.
    pub receive_buffer: Option<u64>,
    /// State of the first connection on which the server sent, from time to time.
    pub states: Vec<TcpSnapshot>,
    /// Which limit ended it early.
    pub cut: Option<String>,
}
