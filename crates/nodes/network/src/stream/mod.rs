//! Throughput as a function of the size of one write.

mod copy;
mod cost;
mod fit;
mod trial;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use measure::Stopper;

use crate::data::{
    Api, Blocks, CpuUse, CpuWatch, EndEvidence, EvidenceWatch, Flows, ReceiverWork, SocketOptions, TcpSnapshot,
    WatchedConnection, start_flows,
};
use crate::limit::{Evidence, TcpEvidence};
use crate::path::Path;
use crate::pattern::{self, StreamRecords};
use crate::serve::{ServeReport, ServeTest};
use crate::{Error, Result};
pub use copy::{CopyRate, CopyTrial};
pub use cost::{ConnectionCost, ConnectionCosts, costs};
pub use fit::two_parameters;
pub use trial::StreamTrial;

/// The result of a stream.
const STREAM: &str = "network.tcp_stream";

/// Direction of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamDirection {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
    /// Both at once; the value is the sum.
    Both,
}

impl StreamDirection {
    /// Value of the parameter.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Both => "both",
        }
    }
}

/// Counters at this end before a connection.
struct Observed {
    ports: u64,
    watch: Option<EvidenceWatch>,
}

/// What is known of a connection besides its two ends.
struct Surroundings {
    link: Option<f64>,
    queue_drops: u64,
    server_limit: Option<u64>,
    is_one_machine: bool,
    congestion: Option<String>,
}

/// Parameters of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamPlan {
    /// Bytes of one write.
    pub record: u32,
    /// Direction.
    pub direction: StreamDirection,
    /// Concurrent connections in each direction.
    pub streams: u32,
    /// Options of the sockets.
    pub options: SocketOptions,
    /// Warm-up, seconds.
    pub warmup: f64,
    /// Length of a block, seconds.
    pub block: f64,
    /// Number of blocks for each connection.
    pub blocks: u32,
    /// The calls by which it is sent and received, if they are a parameter of the result.
    pub api: Option<Api>,
    /// Bytes that the receiver reads with one call, at most; `None`: those that Prony chooses.
    pub read: Option<u32>,
    /// What the receiver does with it; anything but bytes goes up.
    pub work: ReceiverWork,
}

impl Default for StreamPlan {
    fn default() -> Self {
        Self {
            record: 65_536,
            direction: StreamDirection::Up,
            streams: 1,
            options: SocketOptions::default(),
            warmup: 0.05,
            block: 0.02,
            blocks: 8,
            api: None,
            read: None,
            work: ReceiverWork::Bytes,
        }
    }
}

/// Result of one connection.
#[derive(Debug, Clone, Default)]
pub struct ConnectionSeen {
    /// Duration in nanoseconds, and bytes, of each block.
    pub blocks: Vec<(u64, u64)>,
    /// Bytes and write calls of the senders.
    pub written: (u64, u64),
    /// Verified received bytes.
    pub verified: u64,
    /// Read calls of the receivers.
    pub reads: u64,
    /// Costs at this end and at the server's.
    pub cpu: (CpuUse, CpuUse),
    /// State of a sending connection over time.
    pub states: Vec<TcpSnapshot>,
    /// What may have limited it, if its data went one way.
    pub evidence: Option<Evidence>,
    /// The server's limit that ended it early.
    pub cut: Option<String>,
}

impl ConnectionSeen {
    /// Largest window offered by the receiver, bytes: the effective window.
    #[must_use]
    pub fn effective_window(&self) -> Option<u64> {
        self.states.iter().filter_map(|state| state.send_window).max()
    }

    /// Shares of the time with data to send in which the receiver's window, and the send buffer, limited a connection
    /// (`tcp_info.tcpi_rwnd_limited` and `tcpi_sndbuf_limited` over `tcpi_busy_time`).
    #[must_use]
    pub fn limited_shares(&self) -> Option<[f64; 2]> {
        let last = self.states.last()?;
        let busy = last.busy_us.filter(|busy| *busy > 0)? as f64;
        let share = |limited: Option<u64>| limited.map_or(0.0, |us| (us as f64 / busy).min(1.0));
        Some([share(last.receiver_limited_us), share(last.sender_limited_us)])
    }

    /// Segments really lost, and those retransmitted needlessly, on the sampled connection.
    #[must_use]
    pub fn retransmitted(&self) -> [u64; 2] {
        let Some(last) = self.states.last() else { return [0, 0] };
        let lost = last.losses.unwrap_or(0);
        [lost, last.retransmits.unwrap_or(0).saturating_sub(lost)]
    }
}

impl StreamPlan {
    fn test(&self, path: &Path) -> ServeTest {
        let ways = |on: bool| if on { self.streams } else { 0 };
        ServeTest {
            up: ways(self.direction != StreamDirection::Down),
            down: ways(self.direction != StreamDirection::Up),
            record: self.record,
            seconds: self.length() + 5.0,
            warmup: self.warmup,
            block: self.block,
            blocks: self.blocks,
            options: self.options.clone(),
            cpu: path.cpus.server,
            api: self.api.unwrap_or_default(),
            read: self.read.unwrap_or(0),
            work: self.work,
            ..ServeTest::default()
        }
    }

    /// Duration of one connection, seconds.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.warmup + self.block * f64::from(self.blocks)
    }

    /// Measures over one fresh connection.
    ///
    /// # Errors
    /// When the server has disconnected or refuses, and when `stopper` asks to stop.
    pub fn measure_once(&self, path: &Path, stopper: &Stopper) -> Result<ConnectionSeen> {
        let cpu = path.cpus.client;
        let mut client = path.client();
        let test = self.test(path);
        let data = client.open(&test)?;
        let stop = AtomicBool::new(false);
        let (up, down) = (Flows::new(data.up.len()), Flows::new(data.down.len()));
        let records = StreamRecords::new(self.record);
        let mut watched = WatchedConnection::new(data.up.first());
        let watch = CpuWatch::start();
        let address = data.streams().next().and_then(|stream| stream.local_addr().ok()).map(|address| address.ip());
        let place = client.place();
        let before = Observed {
            ports: client.port_drops(),
            watch: address.map(|address| place.at(|| EvidenceWatch::start(cpu, address))).transpose()?,
        };
        let blocks = std::thread::scope(|scope| {
            let started = start_flows(scope, cpu, &data, (&up, &down), &records, &stop, test.ways());
            let wanted = if data.down.is_empty() { 0 } else { self.blocks };
            let mut blocks = Blocks::new(self.warmup, self.block, wanted);
            // The server counts its own blocks from about the same moment, so it gets one more.
            let end = Instant::now() + Duration::from_secs_f64(self.length() + 1.5 * self.block);
            while started.is_ok() && Instant::now() < end && !stopper.asked() {
                blocks.step(&down, Duration::from_millis(20).min(end.saturating_duration_since(Instant::now())));
                watched.sample(false);
            }
            watched.sample(true);
            stop.store(true, Relaxed);
            for stream in data.streams() {
                // This wakes threads that wait in a call on it.
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
            started.map(|()| blocks.finish())
        })?;
        if stopper.asked() {
            return Err(Error::Stopped);
        }
        let cpu = watch.stop(up.cpu_seconds() + down.cpu_seconds());
        let own = before.watch.map(|watch| place.at(|| watch.stop(if data.up.is_empty() { &down } else { &up })));
        let own = own.transpose()?.unwrap_or_default();
        let report = client.report()?;
        pattern::check("server", down.wrong())?;
        let around = Surroundings {
            link: client.link(),
            queue_drops: client.port_drops().saturating_sub(before.ports),
            server_limit: client.limits().bytes_per_second,
            is_one_machine: client.is_here(),
            congestion: data.streams().next().and_then(|stream| os::socket::congestion(stream).ok()),
        };
        let there = report.evidence.clone();
        let mut seen = self.seen(blocks, report, cpu, [&up, &down], watched.finish());
        seen.evidence = self.evidence(&seen, own, there, around);
        Ok(seen)
    }

    /// What may have limited a connection whose data went one way.
    fn evidence(
        &self,
        seen: &ConnectionSeen,
        own: EndEvidence,
        there: EndEvidence,
        around: Surroundings,
    ) -> Option<Evidence> {
        let rates: Vec<f64> =
            seen.blocks.iter().map(|(nanos, bytes)| *bytes as f64 / (*nanos).max(1) as f64 * 1e9).collect();
        let used = [seen.cpu.0, seen.cpu.1].map(|cpu| [cpu.busy, cpu.others]);
        let (sender, receiver) = match self.direction {
            StreamDirection::Up => (own, there),
            StreamDirection::Down => (there, own),
            StreamDirection::Both => return None,
        };
        Some(Evidence {
            rate: stats::median(&rates)?,
            streams: self.streams,
            payload: seen.written.0,
            work: self.work,
            sender,
            receiver,
            tcp: TcpEvidence::of(&seen.states, around.congestion.as_deref()),
            link: around.link,
            queue_drops: around.queue_drops,
            server_limit: around.server_limit.map(|limit| limit as f64),
            is_one_machine: around.is_one_machine,
            copy: None,
            used: if self.direction == StreamDirection::Up { used } else { [used[1], used[0]] },
        })
    }

    fn seen(
        &self,
        down: Vec<(u64, u64)>,
        report: ServeReport,
        cpu: CpuUse,
        flows: [&Flows; 2],
        states: Vec<TcpSnapshot>,
    ) -> ConnectionSeen {
        let blocks = match self.direction {
            StreamDirection::Up => report.blocks,
            StreamDirection::Down => down,
            StreamDirection::Both => {
                let both = |(up, down): (&(u64, u64), &(u64, u64))| {
                    let rate = down.1 as f64 / down.0.max(1) as f64;
                    (up.0, up.1 + (rate * up.0 as f64) as u64)
                };
                report.blocks.iter().zip(&down).map(both).collect()
            }
        };
        let states = if states.is_empty() { report.states } else { states };
        let written = (flows[0].bytes() + report.bytes_down, flows[0].calls() + report.writes);
        let verified = flows[1].verified() + report.verified_up;
        let reads = flows[1].calls() + report.reads;
        ConnectionSeen {
            blocks,
            written,
            verified,
            reads,
            cpu: (cpu, report.cpu),
            states,
            evidence: None,
            cut: report.cut,
        }
    }
}
