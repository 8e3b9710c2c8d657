//! Round trips: messages sent and answered, and connections made.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use measure::Stopper;
use model::{BenchmarkResult, Metric, Placement, Primitive, Sample, Unit, format_size};
use socket2::SockRef;
use stats::Histogram;

use crate::client::SocketNetwork;
use crate::data::{DataSockets, Flows, SocketOptions, Ways, start, start_flows, unconnected};
use crate::path::{Path, pin};
use crate::pattern::{self, StreamRecords};
use crate::series::{SeriesTrial, result};
use crate::serve::{Datagrams, ServeTest};
use crate::{Error, Result};

/// Kind of a round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundTripKind {
    /// A message over a TCP connection with `TCP_NODELAY`.
    Tcp,
    /// A datagram.
    Udp,
    /// A new connection, which the server closes at once.
    Connect,
}

/// Parameters of a measurement of round trips.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundTripPlan {
    /// Kind.
    pub kind: RoundTripKind,
    /// Bytes of a message each way.
    pub size: u32,
    /// Messages a second at fixed moments. Latency then counts from the moment a message was due, so that a late answer
    /// is not hidden by delaying the next message (coordinated omission). `None`: each message follows the previous
    /// answer.
    pub rate: Option<f64>,
    /// Streams up and down that run at the same time as load.
    pub load: (u32, u32),
    /// Options of the sockets.
    pub options: SocketOptions,
    /// Warm-up, seconds.
    pub warmup: f64,
    /// Length of a block, seconds.
    pub block: f64,
    /// Number of blocks for each connection.
    pub blocks: u32,
}

impl Default for RoundTripPlan {
    fn default() -> Self {
        Self {
            kind: RoundTripKind::Tcp,
            size: 1,
            rate: None,
            load: (0, 0),
            options: SocketOptions { no_delay: true, ..SocketOptions::default() },
            warmup: 0.03,
            block: 0.02,
            blocks: 8,
        }
    }
}

/// Result of one connection.
#[derive(Debug, Clone, Default)]
pub struct Trips {
    /// Duration in nanoseconds, and round trips, of each block.
    pub blocks: Vec<(u64, u64)>,
    /// Latency of every round trip, nanoseconds.
    pub latency: Histogram,
    /// Datagrams without an answer.
    pub lost: u64,
}

/// Bytes of one write of the load.
const LOAD_RECORD: u32 = 65_536;
/// How long the answer to a datagram is waited for.
const DATAGRAM: Duration = Duration::from_millis(200);
/// Time beyond that of a sample after which the client stops waiting for an answer: the server's own limit.
const PATIENCE: f64 = 10.0;
/// Interval at which a sample is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// A wait longer than this, nanoseconds, sleeps instead of spinning.
const SLEEP: u64 = 300_000;

enum RoundTripSocket<'a> {
    Tcp(&'a TcpStream),
    /// With a buffer for answers: to make one costs as much as a tenth of a round trip.
    Udp(&'a UdpSocket, Vec<u8>),
    Connect(SocketAddr, &'a OpenConnection),
}

/// The connection that is being made and closed, on which the sample may wait for ever.
type OpenConnection = Mutex<Option<Arc<TcpStream>>>;

fn set(open: &OpenConnection, to: Option<Arc<TcpStream>>) {
    *open.lock().unwrap_or_else(PoisonError::into_inner) = to;
}

impl<'a> RoundTripSocket<'a> {
    /// For datagrams of `size` bytes. A longer answer is seen as that by one byte more.
    fn datagrams(socket: &'a UdpSocket, size: usize) -> Self {
        Self::Udp(socket, vec![0; size + 1])
    }

    /// One round trip; `false` when the datagram was lost.
    #[inline]
    fn trip(&mut self, message: &mut [u8], number: u64) -> std::io::Result<bool> {
        match self {
            RoundTripSocket::Tcp(stream) => {
                stream.write_all(message)?;
                stream.read_exact(message)?;
                Ok(true)
            }
            RoundTripSocket::Udp(socket, answer) => {
                let head = message.len().min(8);
                message[..head].copy_from_slice(&number.to_le_bytes()[..head]);
                socket.send(message)?;
                // A late answer must not be taken for that of the next message.
                loop {
                    match socket.recv(answer) {
                        Ok(length) if answer[..length] == *message => return Ok(true),
                        Ok(_) => {}
                        Err(error)
                            if matches!(
                                error.kind(),
                                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                            ) =>
                        {
                            return Ok(false);
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            RoundTripSocket::Connect(to, open) => {
                let stream = Arc::new(unconnected(*to)?);
                // From here on it can be shut down.
                set(open, Some(Arc::clone(&stream)));
                SockRef::from(&*stream).connect(&(*to).into())?;
                let ended = (&*stream).read(&mut [0; 1])? == 0;
                // Closing it is a part of the round trip.
                set(open, None);
                Ok(ended)
            }
        }
    }
}

impl RoundTripPlan {
    fn test(&self, path: &Path) -> ServeTest {
        ServeTest {
            up: self.load.0,
            down: self.load.1,
            echo: u32::from(self.kind == RoundTripKind::Tcp),
            accept: self.kind == RoundTripKind::Connect,
            datagrams: (self.kind == RoundTripKind::Udp).then_some(Datagrams::Echo),
            record: LOAD_RECORD,
            message: self.size,
            seconds: self.length() + PATIENCE,
            options: self.options.clone(),
            cpu: path.cpus.server,
            ..ServeTest::default()
        }
    }

    fn length(&self) -> f64 {
        self.warmup + self.block * f64::from(self.blocks)
    }

    /// Measures over one fresh connection.
    ///
    /// # Errors
    /// When the server has disconnected or refuses, and when `stopper` asks to stop.
    pub fn measure_once(&self, path: &Path, stopper: &Stopper) -> Result<Trips> {
        let mut client = path.client();
        let place = client.place();
        let data = client.open(&self.test(path))?;
        if let Some(socket) = &data.udp {
            socket.set_read_timeout(Some(DATAGRAM)).map_err(Error::io("wait for a datagram"))?;
        }
        let patience = Duration::from_secs_f64(self.length() + PATIENCE);
        let trips = self.over(&data, (path.cpus.client, &place), patience, stopper);
        if stopper.asked() {
            return Err(Error::Stopped);
        }
        if self.kind != RoundTripKind::Tcp {
            client.stop()?;
        }
        client.report()?;
        trips
    }

    /// Round trips over the sockets of a test, with its load. The other side may freeze and the network may be cut.
    /// Reads have no time limit of their own, since its timer would be measured, so their sockets are shut down after
    /// `patience`.
    fn over(
        &self,
        data: &DataSockets,
        (cpu, place): (Option<usize>, &SocketNetwork),
        patience: Duration,
        stopper: &Stopper,
    ) -> Result<Trips> {
        let (stop, open) = (AtomicBool::new(false), OpenConnection::default());
        let records = StreamRecords::new(LOAD_RECORD);
        let (up, down) = (Flows::new(data.up.len()), Flows::new(data.down.len()));
        let hang_up = || {
            let last = open.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for stream in data.streams().chain(last.as_deref()) {
                // The other side may have ended it already.
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
        };
        std::thread::scope(|scope| {
            let started = start_flows(scope, cpu, data, (&up, &down), &records, &stop, Ways::default());
            let line = match (data.echo.first(), &data.udp) {
                (Some(stream), _) => RoundTripSocket::Tcp(stream),
                (None, Some(socket)) => RoundTripSocket::datagrams(socket, self.size as usize),
                (None, None) => RoundTripSocket::Connect(data.tcp, &open),
            };
            let (running, ended) = mpsc::channel::<()>();
            let drive = move || {
                let work = move || {
                    pin(cpu);
                    self.drive(line, stopper)
                };
                let trips = place.at(work);
                drop(running);
                trips?
            };
            let trips = started.and_then(|()| {
                let thread = start(scope, None, drive)?;
                let answered = wait(&ended, patience, stopper, &hang_up);
                let trips = thread.join().unwrap_or_else(|_| Err(Error::Gone("a thread ended".to_owned())));
                answered.and(trips)
            });
            stop.store(true, Relaxed);
            hang_up();
            pattern::check("server", down.wrong()).and(trips)
        })
    }

    fn drive(&self, mut line: RoundTripSocket<'_>, stopper: &Stopper) -> Result<Trips> {
        let mut trips = Trips::default();
        let mut message = vec![0x33; self.size as usize];
        let block = (self.block * 1e9) as u64;
        let begin = kernels::clock::now();
        let counts_from = begin + (self.warmup * 1e9) as u64;
        let end = counts_from + block * u64::from(self.blocks);
        let (mut number, mut in_block, mut block_began) = (0_u64, 0, 0);
        // With a rate, all messages that are due before the end are sent: leaving out late ones would leave out the
        // slowest. A path that cannot keep up is given up after a while, before the server's limit of 10 s.
        let latest = end + (self.length().clamp(2.0, 8.0) * 1e9) as u64;
        let mut sent = begin;
        loop {
            let next = self.rate.map_or(sent, |rate| begin + (number as f64 / rate * 1e9) as u64);
            if next >= end || sent >= latest || stopper.asked() {
                break;
            }
            let due = if self.rate.is_some() { wait_until(next) } else { next };
            let answered = line.trip(&mut message, number).map_err(|error| Error::Gone(error.to_string()))?;
            number += 1;
            let now = kernels::clock::now();
            sent = now;
            if due < counts_from {
                block_began = now;
                continue;
            }
            if answered {
                trips.latency.record(now - due);
                in_block += 1;
            } else {
                trips.lost += 1;
            }
            if now - block_began >= block && in_block > 0 {
                trips.blocks.push((now - block_began, in_block));
                (in_block, block_began) = (0, now);
            }
        }
        Ok(trips)
    }
}

/// Waits for the end of a sample, which sends nothing. After `patience`, or when the user asks to stop, it wakes all
/// waits on sockets. It does so repeatedly, since a further connection may appear.
fn wait(ended: &mpsc::Receiver<()>, patience: Duration, stopper: &Stopper, hang_up: &dyn Fn()) -> Result<()> {
    let deadline = Instant::now() + patience;
    let mut answered = Ok(());
    while ended.recv_timeout(POLL_INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout) {
        if Instant::now() >= deadline {
            answered = Err(Error::Gone(format!("no answer within {:.1} s", patience.as_secs_f64())));
        }
        if answered.is_err() || stopper.asked() {
            hang_up();
        }
    }
    answered
}

/// Waits for a moment and returns it, even if it has passed already.
fn wait_until(moment: u64) -> u64 {
    loop {
        let now = kernels::clock::now();
        if now >= moment {
            return moment;
        }
        if moment - now > SLEEP {
            kernels::timer::sleep(Duration::from_nanos(moment - now - SLEEP / 2));
        }
    }
}

/// Quantiles that are stored for every connection.
pub const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 1.0];

/// Round trips as a result: the value is the median round trip, the quantiles are those of single round trips.
pub struct RoundTripTrial {
    path: Path,
    trip: RoundTripPlan,
    lost: u64,
}

impl RoundTripTrial {
    /// Round trips over a path.
    #[must_use]
    pub const fn new(path: Path, trip: RoundTripPlan) -> Self {
        Self { path, trip, lost: 0 }
    }
}

impl SeriesTrial for RoundTripTrial {
    fn result(&self) -> BenchmarkResult {
        let mut parameters = self.path.parameters();
        if self.trip.kind != RoundTripKind::Connect {
            parameters = parameters.with("size", format_size(u64::from(self.trip.size)));
        }
        if let Some(rate) = self.trip.rate {
            parameters = parameters.with("rate", format!("{rate}"));
        }
        let loaded = self.trip.load != (0, 0);
        if loaded {
            parameters = parameters.with("load", format!("{}up+{}down", self.trip.load.0, self.trip.load.1));
        }
        let (id, title, per, stack) = match (self.trip.kind, loaded) {
            (RoundTripKind::Tcp, false) => ("network.tcp_latency", "TCP round trip", "round trip", Primitive::TcpStack),
            (RoundTripKind::Tcp, true) => {
                ("network.tcp_loaded_latency", "TCP round trip under load", "round trip", Primitive::TcpStack)
            }
            (RoundTripKind::Udp, false) => ("network.udp_latency", "UDP round trip", "round trip", Primitive::UdpStack),
            (RoundTripKind::Udp, true) => {
                ("network.udp_loaded_latency", "UDP round trip under load", "round trip", Primitive::UdpStack)
            }
            (RoundTripKind::Connect, _) => {
                ("network.tcp_connect", "TCP connect and close", "connection", Primitive::TcpStack)
            }
        };
        let stresses = [stack, Primitive::Wakeup, Primitive::NetworkLink];
        let mut result = result(id, parameters, title, Metric::lower(Unit::Seconds, per), &stresses);
        result.ops = 1;
        result
    }

    fn launch(&mut self, stopper: &Stopper) -> Result<Sample> {
        let trips = self.trip.measure_once(&self.path, stopper)?;
        self.lost += trips.lost;
        let at = |q: f64| trips.latency.quantile(q).map(|nanos| (q, nanos as f64 * 1e-9));
        let quantiles: Vec<(f64, f64)> = QUANTILES.iter().filter_map(|q| at(*q)).collect();
        let (_, value) =
            *quantiles.first().ok_or_else(|| Error::Gone("no answer arrived within the blocks".to_owned()))?;
        let cpus = [self.path.cpus.client, self.path.cpus.server];
        Ok(Sample {
            value,
            nanos: trips.blocks.iter().map(|(nanos, _)| *nanos).collect(),
            ops: trips.blocks.iter().map(|(_, count)| *count).collect(),
            quantiles,
            steady: true,
            placement: Placement {
                asked: cpus.into_iter().flatten().map(|cpu| cpu as u32).collect(),
                seen: Vec::new(),
            },
            ..Sample::default()
        })
    }

    fn notes(&self) -> Vec<String> {
        if self.lost > 0 { vec![format!("{} datagrams unanswered", self.lost)] } else { Vec::new() }
    }
}

#[cfg(test)]
#[path = "round_trip_tests.rs"]
mod tests;
