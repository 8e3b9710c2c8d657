//! One client: its lease and its tests.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use channel::{Channel, LONGEST, PendingChannel};

use super::lease::Lease;
use super::message::{FromClient, FromServer};
use super::shared::ServerShared;
use super::{Datagrams, ServeReport, ServeTest};
use crate::data::{
    Blocks, CpuWatch, EvidenceWatch, FlowCounter, FlowLimit, Flows, Received, ReceiverWork, WatchedConnection, count,
    echo, echo_datagrams, receive_messages, start, start_receiving, start_sending, take, welcome,
};
use crate::pattern::StreamRecords;
use crate::{Error, Result};

/// Time limit for a test's data connections.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for the client to take a message.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval of checks whether a waiting client is still there.
const QUEUE_INTERVAL: Duration = Duration::from_millis(250);
/// Interval at which a test checks its limits.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Purpose of a data connection, given by the byte after the ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionUse {
    Up = 1,
    Down = 2,
    Echo = 3,
}

impl ConnectionUse {
    fn read(bytes: &[u8]) -> Option<Self> {
        [Self::Up, Self::Down, Self::Echo].into_iter().find(|one| [*one as u8] == bytes)
    }
}

/// Serves one client to its end.
pub(super) fn serve(pending: PendingChannel, server: &ServerShared) -> Result<()> {
    let limits = server.settings.limits;
    let mut control = pending.finish(SEND_TIMEOUT)?;
    control.send(&FromServer::Welcome { limits }, SEND_TIMEOUT)?;
    let (lease, ahead) = server.leases.enter();
    if ahead > 0 {
        control.send(&FromServer::Queued { ahead }, SEND_TIMEOUT)?;
    }
    wait_for_lease(&lease, &control, server)?;
    control.send(&FromServer::Granted, SEND_TIMEOUT)?;
    let end = Instant::now() + Duration::from_secs_f64(limits.lease);
    let idle = Duration::from_secs_f64(limits.idle);
    while Instant::now() < end && !server.stop.load(Relaxed) {
        let said: FromClient = control.receive(idle.min(end.saturating_duration_since(Instant::now())), LONGEST)?;
        // A late message about a test that has ended is ignored.
        let FromClient::Test(test) = said else { continue };
        let answer = match test.check(&limits).and_then(|()| run(&test, &mut control, server)) {
            Ok(report) => FromServer::Report(Box::new(report)),
            // The client says itself that it was refused.
            Err(Error::Refused(reason)) => FromServer::Refused { reason },
            Err(error) => FromServer::Refused { reason: error.to_string() },
        };
        control.send(&answer, SEND_TIMEOUT)?;
    }
    Ok(())
}

/// Waits for the lease of a client. A client that disconnects while waiting must lose its place.
fn wait_for_lease(lease: &Lease<'_>, control: &Channel, server: &ServerShared) -> Result<()> {
    let until = Instant::now() + Duration::from_secs_f64(server.settings.limits.lease);
    while !lease.wait(QUEUE_INTERVAL.min(until.saturating_duration_since(Instant::now()))) {
        if Instant::now() >= until || server.stop.load(Relaxed) {
            return Err(Error::Gone("the server served others for too long".to_owned()));
        }
        // It must not send anything before it has the lease.
        if control.has_input()? {
            return Err(Error::Protocol("it sent a message before the server was free".to_owned()));
        }
    }
    Ok(())
}

/// Sockets of one test.
struct Sockets {
    streams: Vec<(ConnectionUse, TcpStream)>,
    listener: TcpListener,
    udp: Option<UdpSocket>,
}

fn open(test: &ServeTest, control: &mut Channel) -> Result<Sockets> {
    let here = control.local_address()?;
    let any = SocketAddr::new(here.ip(), 0);
    let listener = test.options.listen(any)?;
    let udp = test.datagrams.map(|_| UdpSocket::bind(any)).transpose().map_err(Error::io("make a socket"))?;
    if let (Some(socket), Some(bytes)) = (&udp, test.options.window) {
        os::socket::set_receive_buffer(socket, bytes as usize)?;
    }
    let port = |address: std::io::Result<SocketAddr>| address.map(|address| address.port());
    let tcp = port(listener.local_addr()).map_err(Error::io("read the address of the socket"))?;
    let udp_port = udp.as_ref().and_then(|socket| port(socket.local_addr()).ok());
    let ticket = channel::nonce()?;
    control.send(&FromServer::Ready { tcp, udp: udp_port, ticket: ticket.clone() }, SEND_TIMEOUT)?;
    let mut wanted = [test.up, test.down, test.echo];
    let mut judge = |said: &[u8]| {
        let purpose = ConnectionUse::read(said)?;
        let left = &mut wanted[purpose as usize - 1];
        *left = left.checked_sub(1)?;
        Some(purpose)
    };
    let streams = take(&listener, &ticket, 1, (test.up + test.down + test.echo) as usize, CONNECT_TIMEOUT, &mut judge)?;
    if let Some(socket) = &udp {
        welcome(socket, &ticket)?;
    }
    Ok(Sockets { streams, listener, udp })
}

/// State shared by the threads of a test.
#[derive(Default)]
struct TestShared {
    stop: AtomicBool,
    accepted: AtomicU64,
}

/// The flows and counters of a test's threads.
struct TestFlows<'a> {
    ups: Vec<&'a TcpStream>,
    downs: Vec<&'a TcpStream>,
    echoes: Vec<&'a TcpStream>,
    up: Flows,
    down: Flows,
    answered: Flows,
    datagrams: Flows,
    records: StreamRecords,
    shared: TestShared,
}

impl<'a> TestFlows<'a> {
    fn new(test: &ServeTest, sockets: &'a Sockets) -> Self {
        let of = |wanted: ConnectionUse| -> Vec<&'a TcpStream> {
            sockets.streams.iter().filter(|(purpose, _)| *purpose == wanted).map(|(_, stream)| stream).collect()
        };
        let (ups, downs, echoes) = (of(ConnectionUse::Up), of(ConnectionUse::Down), of(ConnectionUse::Echo));
        Self {
            up: Flows::new(ups.len()),
            down: Flows::new(downs.len()),
            answered: Flows::new(echoes.len()),
            datagrams: Flows::new(1),
            records: StreamRecords::new(test.record),
            shared: TestShared::default(),
            ups,
            downs,
            echoes,
        }
    }

    /// Bytes moved in both directions.
    fn bytes(&self) -> u64 {
        [&self.up, &self.down, &self.answered, &self.datagrams].map(Flows::bytes).iter().sum()
    }

    /// Whether the other sides have ended all connections.
    fn ended(&self) -> bool {
        [&self.up, &self.down, &self.answered].into_iter().all(Flows::ended)
    }

    /// Starts a thread for every connection, for further connections and for datagrams. Returns the last of these.
    fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        (test, sockets): (&'scope ServeTest, &'scope Sockets),
        rate: Option<u64>,
    ) -> Result<Option<ScopedJoinHandle<'scope, Received>>> {
        let stop = &self.shared.stop;
        // The rate is that of a direction, so its connections share it.
        let share = |of: usize| rate.map(|rate| (rate as f64 / of.max(1) as f64).max(1.0));
        let limit = |of: usize| FlowLimit::new(share(of), stop);
        self.start_upward(scope, test, &limit)?;
        for (stream, flow) in self.downs.iter().zip(self.down.0.iter()) {
            if let Some(rate) = share(self.downs.len()) {
                // The conversion saturates.
                os::socket::set_pacing(stream, rate as u32)?;
            }
            start_sending(scope, test.cpu, test.api, stream, (&self.records, flow, stop))?;
        }
        for (stream, flow) in self.echoes.iter().zip(self.answered.0.iter()) {
            let limit = limit(self.echoes.len());
            start(scope, test.cpu, move || echo(stream, test.message() as usize, flow, limit))?;
        }
        if test.accept {
            start(scope, test.cpu, || accept_all(&sockets.listener, &self.shared))?;
        }
        let Some((socket, kind)) = sockets.udp.as_ref().zip(test.datagrams) else { return Ok(None) };
        let (flow, limit) = (&self.datagrams.0[0], limit(1));
        start(scope, test.cpu, move || serve_datagrams(socket, kind, stop, flow, limit)).map(Some)
    }
}

impl TestFlows<'_> {
    /// Starts the threads that receive from the client: one for each connection, or one that builds events of all.
    fn start_upward<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        test: &'scope ServeTest,
        limit: &dyn Fn(usize) -> FlowLimit<'scope>,
    ) -> Result<()> {
        let length = test.record as usize;
        if matches!(test.work, ReceiverWork::Events | ReceiverWork::Filtered) {
            let (limit, filtered) = (limit(1), test.work == ReceiverWork::Filtered);
            start(scope, test.cpu, move || receive_messages(&self.ups, length, filtered, &self.up.0, limit))?;
            return Ok(());
        }
        for (at, (stream, flow)) in self.ups.iter().zip(self.up.0.iter()).enumerate() {
            let limit = limit(self.ups.len());
            if test.work == ReceiverWork::Framed {
                let (streams, flows) = (&self.ups[at..=at], &self.up.0[at..=at]);
                start(scope, test.cpu, move || receive_messages(streams, length, false, flows, limit))?;
            } else {
                start_receiving(scope, test.cpu, test.ways(), stream, (flow, limit))?;
            }
        }
        Ok(())
    }
}

fn run(test: &ServeTest, control: &mut Channel, server: &ServerShared) -> Result<ServeReport> {
    let sockets = open(test, control)?;
    let flows = TestFlows::new(test, &sockets);
    let mut watched = WatchedConnection::new(flows.downs.first().copied());
    let (watch, evidence) = (CpuWatch::start(), EvidenceWatch::start(test.cpu, control.local_address()?.ip()));
    let (blocks, cut, datagrams) = std::thread::scope(|scope| {
        let started = flows.start(scope, (test, &sockets), server.settings.limits.bytes_per_second);
        let seen = started.map(|thread| (watch_limits(test, control, server, &flows, &mut watched), thread));
        // No thread may wait for ever. Shutting down a connection that the client has closed already is no error.
        flows.shared.stop.store(true, Relaxed);
        sockets.streams.iter().for_each(|(_, stream)| drop(stream.shutdown(Shutdown::Both)));
        seen.map(|((blocks, cut), thread)| (blocks, cut, thread.and_then(|one| one.join().ok()).unwrap_or_default()))
    })?;
    let (up, down) = (&flows.up, &flows.down);
    let threads = up.cpu_seconds() + down.cpu_seconds() + flows.answered.cpu_seconds();
    let buffer = flows.ups.first().and_then(|stream| os::socket::receive_buffer(stream).ok());
    Ok(ServeReport {
        blocks,
        bytes_up: up.bytes(),
        bytes_down: down.bytes(),
        verified_up: up.verified(),
        wrong_up: up.wrong(),
        reads: up.calls(),
        writes: down.calls(),
        cpu: watch.stop(threads),
        datagrams,
        accepted: flows.shared.accepted.load(Relaxed),
        receive_buffer: buffer.map(|bytes| bytes as u64),
        evidence: evidence.stop(if test.up > 0 { up } else { down }),
        states: watched.finish(),
        cut,
    })
}

/// Watches a test until its connections have ended, the client ends it, or a limit is reached.
fn watch_limits(
    test: &ServeTest,
    control: &mut Channel,
    server: &ServerShared,
    flows: &TestFlows<'_>,
    watched: &mut WatchedConnection,
) -> (Vec<(u64, u64)>, Option<String>) {
    let limits = server.settings.limits;
    // Datagrams and further connections have no end of their own.
    let waits = test.datagrams.is_some() || test.accept;
    let deadline = Instant::now() + Duration::from_secs_f64(test.seconds);
    let mut blocks = Blocks::new(test.warmup, test.block, test.blocks);
    let cut = loop {
        blocks.step(&flows.up, POLL_INTERVAL);
        watched.sample(false);
        if flows.bytes() > limits.bytes {
            break Some(format!("more than {} bytes", limits.bytes));
        }
        if server.stop.load(Relaxed) {
            break Some("it was told to end".to_owned());
        }
        if Instant::now() >= deadline {
            break Some(format!("longer than {} seconds", test.seconds));
        }
        if !waits && flows.ended() {
            break None;
        }
        // A message that began and does not go on must not make the test longer than it may be.
        let patience = SEND_TIMEOUT.min(deadline.saturating_duration_since(Instant::now()));
        match control.has_input() {
            Ok(false) => {}
            Ok(true) if matches!(control.receive(patience, 1024), Ok(FromClient::Stop)) => break None,
            Ok(true) | Err(_) => break Some("the client disconnected".to_owned()),
        }
    };
    (blocks.finish(), cut)
}

fn accept_all(listener: &TcpListener, shared: &TestShared) {
    let bounded = socket2::SockRef::from(listener).set_read_timeout(Some(Duration::from_millis(50)));
    if bounded.is_err() || listener.set_nonblocking(false).is_err() {
        return;
    }
    while !shared.stop.load(Relaxed) {
        if let Ok((stream, _)) = listener.accept() {
            drop(stream);
            shared.accepted.fetch_add(1, Relaxed);
        }
    }
}

fn serve_datagrams(
    socket: &UdpSocket,
    kind: Datagrams,
    stop: &AtomicBool,
    flow: &FlowCounter,
    limit: FlowLimit<'_>,
) -> Received {
    match kind {
        Datagrams::Count | Datagrams::Gather => count(socket, kind == Datagrams::Gather, stop, flow),
        Datagrams::Echo => {
            echo_datagrams(socket, stop, flow, limit);
            Received::default()
        }
    }
}
