//! The coordinator: gives chunks out, counts results, and is the only one that writes into the ledger, or one of a few.
//!
//! A thread a connection, one that writes, one that looks after leases. What a pilot is told holds: a verdict leaves only
//! after it is on the disk, and one wait for the disk serves all offers that came meanwhile (group commit).

mod accept;
mod committer;
mod conversation;
mod portion;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use channel::{Acceptor, AcceptorLimits, Token};

use self::committer::PendingCommit;
use crate::board::{FarmSnapshot, FarmTotals};
use crate::leases::{LeaseRules, Leases};
use crate::ledger::{Begin, Farm, Incident, Ledger, now};
use crate::message::SERVICE;
use crate::{Error, Result};

/// How often leases are looked after.
const LOOK: Duration = Duration::from_millis(50);
/// Offers and notes that may wait to be written; who offers more waits in turn.
const QUEUE: usize = 8192;

/// How to coordinate.
#[derive(Debug, Clone)]
pub struct CoordinatorSettings {
    /// Where to listen; port 0 lets the kernel choose.
    pub address: SocketAddr,
    /// When leases end.
    pub rules: LeaseRules,
    /// Seconds between heartbeats of a pilot.
    pub beat: f64,
    /// Most connections at one time.
    pub connections: usize,
}

impl CoordinatorSettings {
    /// At an address, with the usual rules.
    #[must_use]
    pub fn at(address: SocketAddr) -> Self {
        Self { address, rules: LeaseRules::default(), beat: 1.0, connections: 4096 }
    }
}

/// What all threads of a coordinator share.
pub(crate) struct CoordinatorShared {
    farm: Farm,
    token: Token,
    key: Token,
    settings: CoordinatorSettings,
    leases: Mutex<Leases>,
    board: Mutex<FarmTotals>,
    began: Instant,
    /// No more work is given out.
    stop: AtomicBool,
    /// The threads are to end.
    end: AtomicBool,
    guests: AtomicUsize,
    trouble: Mutex<Option<String>>,
    /// Whether other coordinators may do the same run.
    shares: bool,
    /// Where they listen.
    others: Mutex<Vec<String>>,
}

impl CoordinatorShared {
    fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    // Every change of these is whole before anything can panic.
    fn leases(&self) -> MutexGuard<'_, Leases> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn board(&self) -> MutexGuard<'_, FarmTotals> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn others(&self) -> MutexGuard<'_, Vec<String>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    fn fail(&self, reason: String) {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }
}

/// An incident of this moment.
fn incident(what: &str, node: &str, chunk: Option<u64>, detail: impl Into<String>) -> PendingCommit {
    PendingCommit::Note(Incident {
        at: now(),
        what: what.to_owned(),
        node: node.to_owned(),
        chunk,
        detail: detail.into(),
    })
}

/// A coordinator, which listens as long as this value is there.
pub struct Coordinator {
    shared: Arc<CoordinatorShared>,
    address: SocketAddr,
    begin: Begin,
    say: Option<SyncSender<PendingCommit>>,
    writer: Option<JoinHandle<Box<dyn Ledger>>>,
    watching: Option<JoinHandle<()>>,
    acceptor: Option<Acceptor>,
}

impl Coordinator {
    /// Begins, or goes on with what the ledger holds.
    ///
    /// # Errors
    /// When the ledger cannot be used or the address not be listened on.
    pub fn start(mut ledger: Box<dyn Ledger>, settings: CoordinatorSettings) -> Result<Self> {
        let farm = ledger.farm()?;
        let listener = accept::bind(settings.address)
            .map_err(Error::io(format!("listen on {}; is another coordinator there?", settings.address)))?;
        let address = listener.local_addr().map_err(Error::io("read the own address"))?;
        // Of the files that may be open strangers get a quarter at most.
        let limits = AcceptorLimits::default();
        allow_files(settings.connections + 4 * limits.strangers);
        let shares = ledger.sharing().is_some();
        let begin = ledger.begin(&address.to_string(), settings.rules.expiry)?;
        let (chunks, counted) = (farm.job.chunks(), ledger.totals()?.commits);
        ledger.note(&[portion::beginning(begin, &address.to_string(), counted, chunks, shares)])?;
        // Of a run that is shared, what others did and do is heard again and again.
        let (mut leases, board) = if shares {
            (Leases::shared(settings.rules, chunks), FarmTotals::default())
        } else {
            let doubtful = doubtful(&*ledger, begin.resumed)?;
            (Leases::new(settings.rules, chunks, ledger.counted()?, doubtful, 0.0), FarmTotals::new(&ledger.nodes()?))
        };
        leases.number_from(begin.lease);
        let shared = Arc::new(CoordinatorShared {
            token: Token::parse(&farm.token)?,
            key: Token::parse(&farm.key)?,
            board: Mutex::new(board),
            leases: Mutex::new(leases),
            farm,
            settings,
            began: Instant::now(),
            stop: AtomicBool::new(false),
            end: AtomicBool::new(false),
            guests: AtomicUsize::new(0),
            trouble: Mutex::new(None),
            shares,
            others: Mutex::new(Vec::new()),
        });
        let (say, hear) = std::sync::mpsc::sync_channel(QUEUE);
        let for_writer = Arc::clone(&shared);
        let writer = thread("ledger", move || committer::write(ledger, &hear, &for_writer))?;
        let (for_watch, say_too) = (Arc::clone(&shared), say.clone());
        let watching = Some(thread("leases", move || watch(&for_watch, &say_too))?);
        let handler = accept::PilotHandler { shared: Arc::clone(&shared), say: say.clone() };
        let acceptor = Some(Acceptor::start(listener, SERVICE, &shared.token, limits, handler)?);
        Ok(Self { shared, address, begin, say: Some(say), writer: Some(writer), watching, acceptor })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// How it began.
    #[must_use]
    pub const fn begin(&self) -> Begin {
        self.begin
    }

    /// What lets pilots in.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.shared.token
    }

    /// How things stand.
    #[must_use]
    pub fn snapshot(&self) -> FarmSnapshot {
        let (held, given_up) = {
            let leases = self.shared.leases();
            (leases.held() as u64, leases.given_up().len() as u64)
        };
        let job = &self.shared.farm.job;
        self.shared.board().snapshot(self.shared.now(), job.chunks(), held, given_up, job.events)
    }

    /// Whether nothing is left to do.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.shared.leases().finished()
    }

    /// How many pilots are connected.
    #[must_use]
    pub fn connected(&self) -> u32 {
        self.shared.board().slots()
    }

    /// Why the ledger cannot be written, when it cannot.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds to the run's story.
    pub fn note(&self, what: &str, node: &str, detail: &str) {
        if let Some(say) = &self.say {
            // The writer ends only after this value.
            let _ = say.send(incident(what, node, None, detail));
        }
    }

    /// Gives no more work out; results that come are still counted.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::SeqCst);
    }

    /// Ends all connections and hands the ledger back, with everything written that came in.
    ///
    /// # Errors
    /// When the thread that writes has died.
    pub fn end(mut self) -> Result<Box<dyn Ledger>> {
        self.close();
        let writer = self.writer.take().map(JoinHandle::join);
        match writer {
            Some(Ok(ledger)) => Ok(ledger),
            _ => Err(Error::Broken("the thread that writes the ledger died".to_owned())),
        }
    }

    fn close(&mut self) {
        // Not `stop`: a pilot that asked at this moment would be told that the run is finished, and leave the next
        // coordinator without it.
        self.shared.end.store(true, Ordering::SeqCst);
        self.acceptor = None;
        if let Some(watching) = self.watching.take() {
            let _ = watching.join();
        }
        self.say = None;
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        if self.say.is_some() {
            self.close();
        }
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// A connection is an open file: as many as wanted, if the hard limit lets them.
pub(crate) fn allow_files(connections: usize) {
    use sys::process::{LimitedResource, limit, set_soft_limit};
    let wanted = connections as u64 + 256;
    if let Ok(found) = limit(LimitedResource::OpenFiles)
        && found.soft.is_some_and(|soft| soft < wanted)
    {
        // Where it cannot be raised, connections beyond it are refused one by one, and their pilots come back.
        let _ = set_soft_limit(LimitedResource::OpenFiles, Some(found.hard.map_or(wanted, |hard| hard.min(wanted))));
    }
}

/// Chunks below this may be in the hands of pilots of the coordinator before: those up to the last that was counted, and
/// some more for each of its pilots.
fn doubtful(ledger: &dyn Ledger, resumed: bool) -> Result<u64> {
    if !resumed {
        return Ok(0);
    }
    let joined = ledger.incidents()?.iter().filter(|one| one.what == "joined").count() as u64;
    Ok(ledger.counted()?.greatest().map_or(0, |greatest| greatest + 1) + 2 * joined.min(10_000))
}

fn thread<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(Error::io("start a thread"))
}

/// Ends leases whose heartbeats are missing.
fn watch(shared: &CoordinatorShared, say: &SyncSender<PendingCommit>) {
    /// Incidents of one look that are written down one by one.
    const TOLD: usize = 100;
    while !shared.end.load(Ordering::SeqCst) {
        std::thread::sleep(LOOK);
        let expired = shared.leases().expire(shared.now());
        shared.board().expired(expired.len());
        for one in expired.iter().take(TOLD) {
            // Pilots are named NODE/...
            let node = one.pilot.split('/').next().unwrap_or_default();
            let _ = say.send(incident("expired", node, Some(one.chunk), format!("no heartbeat of {}", one.pilot)));
        }
    }
}
