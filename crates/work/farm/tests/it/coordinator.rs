//! A coordinator and its clients: pilots that work, clients without the token, forgers, and pilots whose coordinator
//! dies.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use channel::{Channel, Token};
use farm::{
    Attempt, Chunk, ChunkResult, ChunkVerdict, ChunkWorker, ChunkWorkers, Coordinator, CoordinatorSettings, Error,
    Farm, FarmJob, FromCoordinator, FromPilot, Invariants, Lease, Ledger, PilotConfig, SERVICE, SqliteLedger,
    run_pilot,
};

pub(crate) const TOKEN: &str = "the token of these tests";
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn create(path: &Path, events: u64) -> SqliteLedger {
    let job = FarmJob {
        name: "test".to_owned(),
        work: serde_json::Value::Null,
        seed: 1,
        first: 0,
        events,
        chunk: 10,
        products: None,
    };
    let farm = Farm {
        id: "test".to_owned(),
        job,
        token: TOKEN.to_owned(),
        key: "the key of these tests".to_owned(),
        address: String::new(),
        created: farm::now(),
        settings: serde_json::Value::Null,
    };
    SqliteLedger::create(path, &farm).unwrap()
}

pub(crate) fn settings(address: SocketAddr) -> CoordinatorSettings {
    let mut settings = CoordinatorSettings { beat: 0.05, ..CoordinatorSettings::at(address) };
    settings.rules.expiry = 1.0;
    settings
}

pub(crate) fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// A client driven by hand.
pub(crate) struct TestClient(pub(crate) Channel);

impl TestClient {
    fn connect(address: SocketAddr, token: &str) -> channel::Result<Self> {
        let stream = TcpStream::connect(address).unwrap();
        Channel::connect(stream, &Token::parse(token).unwrap(), &SERVICE, LONG).map(Self)
    }

    pub(crate) fn enter(address: SocketAddr, pilot: &str) -> (Self, FromCoordinator) {
        let mut client = Self::connect(address, TOKEN).unwrap();
        let answer = client.ask(&FromPilot::Join { pilot: pilot.to_owned(), node: "here".to_owned() });
        (client, answer)
    }

    pub(crate) fn ask(&mut self, say: &FromPilot) -> FromCoordinator {
        self.0.send(say, LONG).unwrap();
        self.0.receive(LONG, 1 << 20).unwrap()
    }

    fn is_closed(&mut self) -> bool {
        self.0.wait(LONG).is_err()
    }
}

/// Whether the connection of a client without the token is closed, after any reply.
fn is_closed(mut stream: TcpStream) -> bool {
    stream.set_read_timeout(Some(LONG)).unwrap();
    // Bytes that the other side never read turn its close into a reset.
    stream.read_to_end(&mut Vec::new()).map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |_| true)
}

pub(crate) fn done(events: u64) -> ChunkResult {
    ChunkResult { events, digest: 5, cpu: Some(0.1), wall: Some(0.1), ..ChunkResult::default() }
}

#[test]
fn wrong_tokens_forged_leases_and_oversized_messages_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let coordinator =
        Coordinator::start(Box::new(create(&folder.path().join("l"), 100)), settings(loopback())).unwrap();
    let at = coordinator.address();
    // A wrong token and malformed handshakes; a greeting of any length gives no more than that.
    let wrong = TestClient::connect(at, "not the token at all").map(|_| ()).unwrap_err();
    assert!(matches!(wrong, channel::Error::WrongToken), "{wrong}");
    for bytes in [&[0xff; 48][..], &[0; 100], b"GET / HTTP/1.1\r\nHost: coordinator.example.org:80\r\n\r\n"] {
        let mut stranger = TcpStream::connect(at).unwrap();
        stranger.write_all(bytes).unwrap();
        assert!(is_closed(stranger), "{bytes:?}");
    }
    for _ in 0..3 {
        drop(TcpStream::connect(at).unwrap());
    }
    // A client with the token must send a name first; an invalid name and an oversized message are refused.
    let mut client = TestClient::connect(at, TOKEN).unwrap();
    assert!(matches!(client.ask(&FromPilot::Ask), FromCoordinator::Refused { .. }) && client.is_closed());
    let (mut client, answer) = TestClient::enter(at, "a name with blanks");
    assert!(matches!(answer, FromCoordinator::Refused { .. }) && client.is_closed());
    let (mut client, answer) = TestClient::enter(at, "long");
    assert!(matches!(answer, FromCoordinator::Welcome { .. }));
    client.0.send(&FromPilot::About { facts: "x".repeat(65 << 10).into() }, LONG).unwrap();
    assert!(client.is_closed());

    let (mut honest, _) = TestClient::enter(at, "honest");
    let FromCoordinator::Lease(lease) = honest.ask(&FromPilot::Ask) else { panic!("no work") };
    let refused = |pilot: &str, lease: Lease, done: ChunkResult| {
        let (mut client, answer) = TestClient::enter(at, pilot);
        assert!(matches!(answer, FromCoordinator::Welcome { .. }));
        let answer = client.ask(&FromPilot::Commit { lease, done, products: Vec::new() });
        assert!(matches!(answer, FromCoordinator::Refused { .. }), "{answer:?}");
        assert!(client.is_closed());
    };
    // A forged tag, another pilot's lease, the pilot's own lease for another chunk, too few events, invalid times.
    refused("other", Lease { tag: "0".repeat(64), ..lease.clone() }, done(10));
    refused("other", lease.clone(), done(10));
    let next = Chunk { index: lease.chunk.index + 1, first: lease.chunk.first + 10, ..lease.chunk };
    refused("honest", Lease { chunk: next, ..lease.clone() }, done(10));
    refused("honest", Lease { chunk: Chunk { events: 1, ..lease.chunk }, ..lease.clone() }, done(1));
    refused("honest", Lease { number: lease.number + 1, ..lease.clone() }, done(10));
    refused("honest", lease.clone(), done(9));
    assert_eq!(coordinator.snapshot().counted, 0, "something forged was counted");
    // A leased chunk counts, and counts once however often it is offered.
    for _ in 0..2 {
        let answer = honest.ask(&FromPilot::Commit { lease: lease.clone(), done: done(10), products: Vec::new() });
        assert_eq!(answer, FromCoordinator::Recorded { verdict: ChunkVerdict::Counted });
    }
    assert_eq!(coordinator.snapshot().counted, 1);
    assert!(coordinator.snapshot().strangers >= 7);
    drop(honest);
    let ledger = coordinator.end().unwrap();
    let count = |what: &str| ledger.incidents().unwrap().iter().filter(|one| one.what == what).count();
    assert!(count("stranger") >= 7 && count("forged") == 5, "{:?}", ledger.incidents().unwrap());
    assert_eq!(ledger.totals().unwrap().commits, 1);
}

#[test]
fn two_thousand_silent_connections_keep_no_pilot_out() {
    let folder = tempfile::tempdir().unwrap();
    let coordinator =
        Coordinator::start(Box::new(create(&folder.path().join("l"), 100)), settings(loopback())).unwrap();
    let files = os::process::limit(os::process::LimitedResource::OpenFiles);
    let room = files.unwrap_or(u64::MAX).min(10_000) as usize;
    // Both ends of the connections are in this process, and the coordinator keeps up to a quarter of the files that it
    // may open.
    let strangers = 2_000.min(room.saturating_sub(room / 4 + 256));
    if strangers < 2_000 {
        testing::lacks!("2,000 strangers are {strangers}, because this process may open {room} files");
    }
    let silent: Vec<TcpStream> = (0..strangers).map(|_| TcpStream::connect(coordinator.address()).unwrap()).collect();
    let began = Instant::now();
    let (_guest, answer) = TestClient::enter(coordinator.address(), "honest");
    assert!(matches!(answer, FromCoordinator::Welcome { .. }), "{answer:?}");
    eprintln!("a pilot got in {:.0} ms after {strangers} strangers", began.elapsed().as_secs_f64() * 1e3);
    drop(silent);
}

#[test]
fn a_full_coordinator_refuses_and_names_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let full = CoordinatorSettings { connections: 1, ..settings(loopback()) };
    let coordinator = Coordinator::start(Box::new(create(&folder.path().join("l"), 100)), full).unwrap();
    let (first, _) = TestClient::enter(coordinator.address(), "first");
    let mut second = TestClient::connect(coordinator.address(), TOKEN).unwrap();
    let answer: FromCoordinator = second.0.receive(LONG, 1 << 20).unwrap();
    assert_eq!(answer, FromCoordinator::Full { connections: 1 });
    let shop = Arc::new(TestWorkers { permits: None, done: Arc::default() });
    let waiting =
        run_pilot(&PilotConfig { patience: 0.2, ..order(coordinator.address(), TOKEN, 1) }, shop).unwrap_err();
    assert!(waiting.to_string().contains("has 1 connections already"), "{waiting}");
    drop(first);
}

/// A pilot that asks while a coordinator ends gets no reply or a true one: never that the run is finished while chunks
/// are left.
#[test]
fn a_coordinator_that_ends_never_says_that_the_run_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("l");
    let mut ledger: Box<dyn Ledger> = Box::new(create(&path, 100_000));
    for _ in 0..10 {
        let coordinator = Coordinator::start(ledger, settings(loopback())).unwrap();
        let at = coordinator.address();
        let asking: Vec<_> = (0..8)
            .map(|number| {
                let ask = move || {
                    let (mut client, _) = TestClient::enter(at, &format!("pilot/{number}"));
                    let mut heard = Vec::new();
                    // Until the connection ends.
                    while client.0.send(&FromPilot::Ask, LONG).is_ok()
                        && let Ok(answer) = client.0.receive::<FromCoordinator>(LONG, 1 << 20)
                    {
                        heard.push(answer);
                    }
                    heard
                };
                std::thread::Builder::new().name("pilot".to_owned()).spawn(ask).unwrap()
            })
            .collect();
        wait_for("all to ask for work", || coordinator.connected() == 8 && coordinator.snapshot().held > 50);
        drop(coordinator);
        for asking in asking {
            assert!(!asking.join().unwrap().contains(&FromCoordinator::Finished));
        }
        ledger = Box::new(SqliteLedger::open(&path).unwrap());
    }
}

pub(crate) fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LONG, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Counts events: at once, or as many chunks as the test permits.
struct TestWorkers {
    permits: Option<Arc<AtomicU64>>,
    done: Arc<AtomicU64>,
}

struct TestWorker(Option<Arc<AtomicU64>>, Arc<AtomicU64>);

impl ChunkWorker for TestWorker {
    fn perform(&mut self, chunk: &Chunk, _: &Attempt) -> Result<ChunkResult, String> {
        if let Some(permits) = &self.0 {
            wait_for("a permit", || {
                permits.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
            });
        }
        self.1.fetch_add(1, Ordering::SeqCst);
        let (cpu, wall) = (Some(0.0), Some(0.01));
        Ok(ChunkResult { events: chunk.events, digest: chunk.first, cpu, wall, ..ChunkResult::default() })
    }
}

impl ChunkWorkers for TestWorkers {
    fn worker(&self, _: &FarmJob) -> Result<Box<dyn ChunkWorker>, String> {
        Ok(Box::new(TestWorker(self.permits.clone(), Arc::clone(&self.done))))
    }

    fn about(&self, _: &FarmJob) -> serde_json::Value {
        serde_json::json!({ "notes": ["a test"] })
    }
}

pub(crate) fn order(address: SocketAddr, token: &str, slots: u32) -> PilotConfig {
    PilotConfig {
        address: address.to_string(),
        token: token.to_owned(),
        node: "here".to_owned(),
        slots,
        patience: 30.0,
    }
}

fn assert_invariants(ledger: &dyn Ledger, events: u64) {
    let totals = ledger.totals().unwrap();
    let invariants = Invariants { planned: events.div_ceil(10), events, totals };
    assert_eq!(invariants.broken(), Vec::<String>::new());
    assert_eq!(totals.digest, (0..events.div_ceil(10)).map(|index| index * 10).sum::<u64>());
}

#[test]
fn pilots_outlive_their_coordinator_and_offer_unanswered_results_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("l");
    let mut coordinator = Coordinator::start(Box::new(create(&path, 1005)), settings(loopback())).unwrap();
    let at = coordinator.address();
    let permits = Arc::new(AtomicU64::new(0));
    let shop = Arc::new(TestWorkers { permits: Some(Arc::clone(&permits)), done: Arc::default() });
    let pilot = std::thread::spawn(move || run_pilot(&order(at, TOKEN, 4), shop));
    for _ in 0..2 {
        // Every slot is connected and has a lease when the coordinator ends; some of the work is finished by then.
        wait_for("all slots", || coordinator.connected() == 4);
        let before = coordinator.snapshot().counted;
        permits.fetch_add(20, Ordering::SeqCst);
        wait_for("chunks", || coordinator.snapshot().counted >= before + 15);
        // Its threads and connections end; the next one listens at the same address a little later.
        drop(coordinator);
        permits.fetch_add(2, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(100));
        coordinator = Coordinator::start(Box::new(SqliteLedger::open(&path).unwrap()), settings(at)).unwrap();
    }
    wait_for("all slots", || coordinator.connected() == 4);
    permits.fetch_add(1000, Ordering::SeqCst);
    let tally = pilot.join().unwrap().unwrap();
    assert!(coordinator.finished());
    let ledger = coordinator.end().unwrap();
    assert_invariants(&*ledger, 1005);
    assert!(tally.connections >= 12, "four slots met three coordinators: {tally:?}");
    assert_eq!(tally.counted, 101, "{tally:?}");
    assert_eq!(ledger.descriptions().unwrap()[0].1["notes"][0], "a test");
}

#[test]
fn a_pilot_refuses_a_coordinator_without_the_token_and_gives_up_when_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let coordinator = Coordinator::start(Box::new(create(&folder.path().join("l"), 10)), settings(loopback())).unwrap();
    let shop = || Arc::new(TestWorkers { permits: None, done: Arc::default() });
    let wrong = run_pilot(&order(coordinator.address(), "another token than that", 1), shop());
    assert!(matches!(wrong, Err(Error::Channel(channel::Error::WrongToken))), "{wrong:?}");
    // A listener that does not know the token cannot hand out work.
    let listener = TcpListener::bind(loopback()).unwrap();
    let at = listener.local_addr().unwrap();
    let liar = std::thread::Builder::new().name("liar".to_owned()).spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let nonce = format!(r#"{{"says":"challenge","version":{},"nonce":"farm-00"}}"#, SERVICE.version);
            stream.write_all(&[&(nonce.len() as u32).to_be_bytes()[..], nonce.as_bytes()].concat()).unwrap();
            if stream.read_exact(&mut [0; 48]).is_err() {
                break;
            }
            stream.write_all(&[0; 49]).unwrap();
        }
    });
    let fooled = run_pilot(&order(at, TOKEN, 1), shop());
    assert!(matches!(&fooled, Err(Error::Channel(channel::Error::Impostor))), "{fooled:?}");
    drop(TcpStream::connect(at).unwrap());
    liar.unwrap().join().unwrap();
    let alone = run_pilot(&PilotConfig { patience: 0.2, ..order(at, TOKEN, 1) }, shop());
    assert!(matches!(alone, Err(Error::Away { .. })), "{alone:?}");
}

#[test]
fn many_pilots_count_every_chunk_once() {
    let folder = tempfile::tempdir().unwrap();
    let coordinator =
        Coordinator::start(Box::new(create(&folder.path().join("l"), 20_000)), settings(loopback())).unwrap();
    let done = Arc::new(AtomicU64::new(0));
    let shop = Arc::new(TestWorkers { permits: None, done: Arc::clone(&done) });
    let tally = run_pilot(&order(coordinator.address(), TOKEN, 64), shop).unwrap();
    let ledger = coordinator.end().unwrap();
    assert_invariants(&*ledger, 20_000);
    assert_eq!(tally.counted, 2_000);
    // The last chunks may be leased twice.
    assert_eq!(done.load(Ordering::SeqCst), 2_000 + tally.refused);
}

#[test]
fn an_address_that_cannot_be_listened_on_is_told_with_the_reason() {
    let said = |address: SocketAddr| Coordinator::listen(address).unwrap_err().to_string();
    let holder = Coordinator::listen(loopback()).unwrap();
    let here = holder.local_addr().unwrap();
    assert!(said(here).contains("is another coordinator there?"), "{}", said(here));
    // An address for documentation (RFC 5737), which no host has.
    let said = said(([192, 0, 2, 1], 0).into());
    assert!(said.contains("no address of this host") && !said.contains("another coordinator"), "{said}");
}
