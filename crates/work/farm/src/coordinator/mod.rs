//! The coordinator: leases chunks to pilots, counts results, and alone writes to the ledger.
//!
//! One thread for each connection, one that writes the ledger, one that expires leases. A verdict is sent only after it
//! is on the disk, and one fsync serves all results that arrived in the meantime (group commit).

mod accept;
mod committer;
mod conversation;
mod plausible;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use channel::{Acceptor, AcceptorLimits, Token};

use self::committer::PendingCommit;
use crate::board::{FarmSnapshot, FarmTotals};
use crate::clock::{FarmClock, HostClock, Stamp};
use crate::leases::{LeaseRules, Leases};
use crate::ledger::{Begin, Farm, Incident, Ledger};
use crate::message::SERVICE;
use crate::story::suspects;
use crate::{Error, Result};

/// Interval at which expired leases are looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Results and notes that may wait to be written; senders beyond that block.
const QUEUE: usize = 8192;

/// Settings of a coordinator.
#[derive(Debug, Clone)]
pub struct CoordinatorSettings {
    /// Address to listen on; port 0 lets the kernel choose.
    pub address: SocketAddr,
    /// When leases expire.
    pub rules: LeaseRules,
    /// Seconds between heartbeats of a pilot.
    pub beat: f64,
    /// Connections at one time, at most.
    pub connections: usize,
    /// The clocks.
    pub clock: Arc<dyn FarmClock>,
}

impl CoordinatorSettings {
    /// Default settings at an address.
    #[must_use]
    pub fn at(address: SocketAddr) -> Self {
        Self { address, rules: LeaseRules::default(), beat: 1.0, connections: 4096, clock: Arc::new(HostClock) }
    }
}

/// State shared by all threads of a coordinator.
pub(crate) struct CoordinatorShared {
    farm: Farm,
    token: Token,
    key: Token,
    settings: CoordinatorSettings,
    leases: Mutex<Leases>,
    board: Mutex<FarmTotals>,
    /// When this coordinator began: by its monotonic clock, and since the run began.
    began: (f64, f64),
    /// No more chunks are leased.
    stop: AtomicBool,
    /// All threads must end.
    end: AtomicBool,
    pilots: AtomicUsize,
    failure: Mutex<Option<String>>,
    /// CPUs of nodes, as their pilots said.
    cpus: Mutex<BTreeMap<String, f64>>,
}

impl CoordinatorShared {
    /// Seconds since this coordinator began.
    fn now(&self) -> f64 {
        self.settings.clock.monotonic() - self.began.0
    }

    /// This moment, since the run began and by the wall clock.
    fn stamp(&self) -> Stamp {
        Stamp { at: self.settings.clock.wall(), since: self.began.1 + self.now() }
    }

    /// An incident at this moment.
    fn incident(&self, what: &str, node: &str, chunk: Option<u64>, detail: impl Into<String>) -> PendingCommit {
        PendingCommit::Note(incident(self.stamp(), what, node, chunk, detail.into()))
    }

    fn cpus(&self) -> MutexGuard<'_, BTreeMap<String, f64>> {
        self.cpus.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // A poisoned lock is used further: no change of these values can be half done when a thread panics.
    fn leases(&self) -> MutexGuard<'_, Leases> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn board(&self) -> MutexGuard<'_, FarmTotals> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_failed(&self) -> bool {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn fail(&self, reason: String) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }
}

fn incident(when: Stamp, what: &str, node: &str, chunk: Option<u64>, detail: String) -> Incident {
    Incident { at: when.at, since: when.since, what: what.to_owned(), node: node.to_owned(), chunk, detail }
}

/// A running coordinator. It listens until it is dropped.
pub struct Coordinator {
    shared: Arc<CoordinatorShared>,
    address: SocketAddr,
    begin: Begin,
    to_ledger: Option<SyncSender<PendingCommit>>,
    writer: Option<JoinHandle<Box<dyn Ledger>>>,
    watching: Option<JoinHandle<()>>,
    acceptor: Option<Acceptor>,
}

impl Coordinator {
    /// Starts a run, or resumes it from the ledger.
    ///
    /// # Errors
    /// When the ledger cannot be used or the address cannot be listened on.
    pub fn start(ledger: Box<dyn Ledger>, settings: CoordinatorSettings) -> Result<Self> {
        let listener = Self::listen(settings.address)?;
        Self::start_on(listener, ledger, settings)
    }

    /// Listens on an address, so that one that cannot be listened on is noticed before anything else is done.
    ///
    /// # Errors
    /// When it cannot be listened on.
    pub fn listen(address: SocketAddr) -> Result<TcpListener> {
        accept::bind(address).map_err(|error| {
            let hint = match error.kind() {
                ErrorKind::AddrInUse => "; is another coordinator there?",
                ErrorKind::AddrNotAvailable => ", which is no address of this host",
                _ => "",
            };
            Error::io(format!("listen on {address}{hint}"))(error)
        })
    }

    /// Like [`Coordinator::start`], on a socket that listens already.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    pub fn start_on(listener: TcpListener, mut ledger: Box<dyn Ledger>, settings: CoordinatorSettings) -> Result<Self> {
        let farm = ledger.farm()?;
        let address = listener.local_addr().map_err(Error::io("read the address of the listening socket"))?;
        // Connections that have not shown the token may hold a quarter of the open files at most.
        let limits = AcceptorLimits::default();
        // If that fails, connections beyond the limit are refused one by one, and their pilots retry.
        os::process::allow_files(settings.connections + 4 * limits.waiting);
        let doubtful = doubtful(&*ledger)?;
        let began = settings.clock.monotonic();
        let begin = ledger.begin(&address.to_string(), &*settings.clock)?;
        let when = Stamp { at: settings.clock.wall(), since: begin.since };
        let (wrong, _) = suspects::judge(&mut *ledger, when)?;
        let (chunks, counted) = (farm.job.chunks(), ledger.counted()?);
        let detail = format!("coordinator at {address}, {} of {chunks} chunks counted", counted.count());
        let what = if begin.resumed { "resumed" } else { "started" };
        ledger.note(&[incident(when, what, "", None, detail)])?;
        let mut leases = Leases::new(settings.rules, chunks, counted, doubtful, begin.lease);
        wrong.iter().for_each(|suspect| leases.distrust(&suspect.node, &[]));
        let board = FarmTotals::new(&ledger.nodes()?);
        let shared = Arc::new(CoordinatorShared {
            token: Token::parse(&farm.token)?,
            key: Token::parse(&farm.key)?,
            board: Mutex::new(board),
            leases: Mutex::new(leases),
            farm,
            settings,
            began: (began, begin.since),
            stop: AtomicBool::new(false),
            end: AtomicBool::new(false),
            pilots: AtomicUsize::new(0),
            failure: Mutex::new(None),
            cpus: Mutex::new(BTreeMap::new()),
        });
        let (to_ledger, pending) = std::sync::mpsc::sync_channel(QUEUE);
        let for_writer = Arc::clone(&shared);
        let writer = thread("ledger", move || committer::write(ledger, &pending, &for_writer))?;
        let (for_watch, from_watch) = (Arc::clone(&shared), to_ledger.clone());
        let watching = Some(thread("leases", move || watch(&for_watch, &from_watch))?);
        let handler = accept::PilotHandler { shared: Arc::clone(&shared), to_ledger: to_ledger.clone() };
        let acceptor = Some(Acceptor::start(listener, SERVICE, &shared.token, limits, handler)?);
        Ok(Self { shared, address, begin, to_ledger: Some(to_ledger), writer: Some(writer), watching, acceptor })
    }

    /// The address it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// How it began with the ledger.
    #[must_use]
    pub const fn begin(&self) -> &Begin {
        &self.begin
    }

    /// The token that pilots must know.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.shared.token
    }

    /// The state at this moment.
    #[must_use]
    pub fn snapshot(&self) -> FarmSnapshot {
        let (held, given_up, unchecked) = {
            let leases = self.shared.leases();
            (leases.held() as u64, leases.given_up().len() as u64, leases.unchecked() as u64)
        };
        let job = &self.shared.farm.job;
        let mut snapshot = self.shared.board().snapshot(self.shared.now(), job.chunks(), job.events);
        (snapshot.held, snapshot.given_up, snapshot.unchecked) = (held, given_up, unchecked);
        snapshot
    }

    /// Whether no chunk is left.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.shared.leases().finished()
    }

    /// The nodes, when every connected one only fails and no other one is to come, so that waiting helps no more.
    #[must_use]
    pub fn hopeless(&self) -> Option<Vec<String>> {
        self.shared.leases().hopeless()
    }

    /// Number of nodes that were started and have not connected yet.
    pub fn expect(&self, nodes: usize) {
        self.shared.leases().expect(nodes);
    }

    /// Number of connected pilots.
    #[must_use]
    pub fn connected(&self) -> u32 {
        self.shared.board().slots()
    }

    /// Why the ledger could not be written, after a failure.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds an incident to the ledger.
    pub fn note(&self, what: &str, node: &str, detail: &str) {
        if let Some(to_ledger) = &self.to_ledger {
            // The ledger thread outlives this value.
            let _ = to_ledger.send(self.shared.incident(what, node, None, detail));
        }
    }

    /// Leases no more chunks; results that arrive are still counted.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::SeqCst);
    }

    /// Ends all connections and returns the ledger, after everything that arrived is written.
    ///
    /// # Errors
    /// When the ledger thread has died.
    pub fn end(mut self) -> Result<Box<dyn Ledger>> {
        self.close();
        let writer = self.writer.take().map(JoinHandle::join);
        match writer {
            Some(Ok(ledger)) => Ok(ledger),
            _ => Err(Error::Broken("the ledger thread died".to_owned())),
        }
    }

    fn close(&mut self) {
        // `stop` must stay unset: a pilot that asks at this moment would get "finished", and the next coordinator would
        // lose it.
        self.shared.end.store(true, Ordering::SeqCst);
        self.acceptor = None;
        if let Some(watching) = self.watching.take() {
            let _ = watching.join();
        }
        self.to_ledger = None;
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        if self.to_ledger.is_some() {
            self.close();
        }
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// Chunks below this number may still be leased to pilots of an earlier coordinator: those up to the last counted one,
/// and some more for each of its pilots.
fn doubtful(ledger: &dyn Ledger) -> Result<u64> {
    if ledger.farm()?.address.is_empty() {
        return Ok(0);
    }
    let joined = ledger.incidents()?.iter().filter(|one| one.what == "joined").count() as u64;
    Ok(ledger.counted()?.greatest().map_or(0, |greatest| greatest + 1) + 2 * joined.min(10_000))
}

fn thread<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(Error::io("start a thread"))
}

/// Expires leases whose heartbeats are missing, and notices when the wall clock is set.
fn watch(shared: &CoordinatorShared, to_ledger: &SyncSender<PendingCommit>) {
    /// Incidents written down one by one in each pass, at most.
    const MAX_NOTED: usize = 100;
    /// Least clock step in a report, seconds: synchronised clocks move by far less.
    const STEP: f64 = 1.0;
    /// Time beyond that of a pass that shows that this process was stopped, or had no CPU.
    const STOOD: Duration = Duration::from_secs(1);
    let apart = || shared.settings.clock.wall() - shared.settings.clock.monotonic();
    let (mut usual, mut looked) = (apart(), Instant::now());
    while !shared.end.load(Ordering::SeqCst) {
        kernels::timer::sleep(POLL_INTERVAL);
        let stood = looked.elapsed();
        looked = Instant::now();
        if stood > STOOD + POLL_INTERVAL {
            // No heartbeat could be heard: that is no evidence against pilots.
            shared.leases().renew_all(shared.now());
            let detail =
                format!("the coordinator was suspended for {:.1} s; leases are extended by it", stood.as_secs_f64());
            let _ = to_ledger.send(shared.incident("stalled", "", None, detail));
        }
        let step = apart() - usual;
        if step.abs() > STEP {
            usual += step;
            let detail =
                format!("the wall clock of this host was changed by {step:+.1} s; times of the run are unaffected");
            let _ = to_ledger.send(shared.incident("clock", "", None, detail));
        }
        let expired = shared.leases().expire(shared.now());
        shared.board().expired(expired.len());
        for one in expired.iter().take(MAX_NOTED) {
            // A pilot's name is NODE/...
            let node = one.pilot.split('/').next().unwrap_or_default();
            let _ = to_ledger.send(shared.incident(
                "expired",
                node,
                Some(one.chunk),
                format!("no heartbeat from {}", one.pilot),
            ));
        }
    }
}
