//! A coordinator and who comes to it: pilots that work, strangers, forgers, and pilots whose coordinator dies.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use farm::{
    Chunk, Coordinator, Done, Error, Farm, FromCoordinator, FromPilot, Invariants, Job, Lease, Ledger, Order, Settings,
    SqliteLedger, Verdict, Worker, Workshop, fly,
};
use fleet::serve::message::{receive, send};
use fleet::serve::{Role, Token};

const TOKEN: &str = "the token of these tests";
const LONG: Duration = Duration::from_secs(60);

fn create(path: &Path, events: u64) -> SqliteLedger {
    let job = Job { name: "test".to_owned(), work: serde_json::Value::Null, seed: 1, first: 0, events, chunk: 10 };
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

fn settings(address: SocketAddr) -> Settings {
    let mut settings = Settings { beat: 0.05, ..Settings::at(address) };
    settings.rules.expiry = 1.0;
    settings
}

fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// What a conversation by hand needs.
struct Guest(TcpStream);

impl Guest {
    fn connect(address: SocketAddr) -> (Self, String) {
        let mut stream = TcpStream::connect(address).unwrap();
        let FromCoordinator::Challenge { nonce, .. } = receive(&mut stream, LONG, 1 << 20).unwrap() else { panic!() };
        (Self(stream), nonce)
    }

    fn enter(address: SocketAddr, token: &str, pilot: &str) -> (Self, FromCoordinator) {
        let (mut guest, nonce) = Self::connect(address);
        let token = Token::parse(token).unwrap();
        let bound = |nonce: &str| format!("farm {} {nonce}", farm::VERSION);
        let proof = token.proof(Role::Client, &bound(&nonce), &bound("mine")).unwrap();
        let say =
            FromPilot::Proof { nonce: "mine".to_owned(), proof, pilot: pilot.to_owned(), node: "here".to_owned() };
        let answer = guest.ask(&say);
        (guest, answer)
    }

    fn ask(&mut self, say: &FromPilot) -> FromCoordinator {
        send(&mut self.0, say, LONG).unwrap();
        receive(&mut self.0, LONG, 1 << 20).unwrap()
    }

    fn is_closed(&mut self) -> bool {
        self.0.set_read_timeout(Some(LONG)).unwrap();
        // Bytes that the other side never read make its closing a reset.
        self.0.read(&mut [0; 64]).map_or(true, |count| count == 0)
    }
}

fn done(events: u64) -> Done {
    Done { events, digest: 5, cpu: 0.1, wall: 0.1 }
}

#[test]
fn strangers_forgers_and_long_speakers_get_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let coordinator =
        Coordinator::start(Box::new(create(&folder.path().join("l"), 100)), settings(loopback())).unwrap();
    let at = coordinator.address();
    // A wrong token, no proof at all, and a proof that was heard from somebody else.
    let (mut guest, answer) = Guest::enter(at, "not the token at all", "a");
    assert!(matches!(answer, FromCoordinator::Denied { .. }) && guest.is_closed());
    let (mut guest, _) = Guest::connect(at);
    assert!(matches!(guest.ask(&FromPilot::Ask), FromCoordinator::Denied { .. }) && guest.is_closed());
    // Lengths that are not believed, text that is no message, and names that are none.
    for bytes in [&u32::MAX.to_be_bytes()[..], &[0, 0, 0x20, 0], b"GET / HTTP/1.1\r\n\r\n", &[0, 0, 0, 2, b'{', b'}']] {
        let (mut guest, _) = Guest::connect(at);
        guest.0.write_all(bytes).unwrap();
        assert!(guest.is_closed(), "{bytes:?}");
    }
    let (_, answer) = Guest::enter(at, TOKEN, "a name with blanks");
    assert!(matches!(answer, FromCoordinator::Denied { .. }));
    // One that is let in is still bounded.
    let (mut guest, answer) = Guest::enter(at, TOKEN, "long");
    assert!(matches!(answer, FromCoordinator::Welcome { .. }));
    guest.0.write_all(&(65 * 1024_u32).to_be_bytes()).unwrap();
    assert!(guest.is_closed());

    let (mut honest, _) = Guest::enter(at, TOKEN, "honest");
    let FromCoordinator::Lease(lease) = honest.ask(&FromPilot::Ask) else { panic!("no work") };
    let refused = |pilot: &str, lease: Lease, done: Done| {
        let (mut guest, answer) = Guest::enter(at, TOKEN, pilot);
        assert!(matches!(answer, FromCoordinator::Welcome { .. }));
        let answer = guest.ask(&FromPilot::Commit { lease, done });
        assert!(matches!(answer, FromCoordinator::Refused { .. }), "{answer:?}");
        assert!(guest.is_closed());
    };
    // A tag made up, another pilot's lease, the own lease for another chunk, too few events, nonsense for time.
    refused("other", Lease { tag: "0".repeat(64), ..lease.clone() }, done(10));
    refused("other", lease.clone(), done(10));
    let next = Chunk { index: lease.chunk.index + 1, first: lease.chunk.first + 10, ..lease.chunk };
    refused("honest", Lease { chunk: next, ..lease.clone() }, done(10));
    refused("honest", Lease { chunk: Chunk { events: 1, ..lease.chunk }, ..lease.clone() }, done(1));
    refused("honest", Lease { number: lease.number + 1, ..lease.clone() }, done(10));
    refused("honest", lease.clone(), done(9));
    refused("honest", lease.clone(), Done { cpu: -1.0, ..done(10) });
    assert_eq!(coordinator.snapshot().counted, 0, "something forged was counted");
    // What was leased counts, and counts once however often it is offered.
    for _ in 0..2 {
        let answer = honest.ask(&FromPilot::Commit { lease: lease.clone(), done: done(10) });
        assert_eq!(answer, FromCoordinator::Settled { verdict: Verdict::Counted });
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
fn who_says_nothing_does_not_keep_pilots_out() {
    let folder = tempfile::tempdir().unwrap();
    let coordinator =
        Coordinator::start(Box::new(create(&folder.path().join("l"), 100)), settings(loopback())).unwrap();
    let silent: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(coordinator.address()).unwrap()).collect();
    let (_guest, answer) = Guest::enter(coordinator.address(), TOKEN, "honest");
    assert!(matches!(answer, FromCoordinator::Welcome { .. }), "{answer:?}");
    drop(silent);
}

/// Whoever asks while a coordinator ends hears nothing, or what is so: never that a run is finished of which chunks are
/// left.
#[test]
fn a_coordinator_that_ends_tells_no_pilot_that_all_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("l");
    let mut ledger: Box<dyn Ledger> = Box::new(create(&path, 100_000));
    for _ in 0..10 {
        let coordinator = Coordinator::start(ledger, settings(loopback())).unwrap();
        let at = coordinator.address();
        let asking: Vec<_> = (0..8)
            .map(|number| {
                std::thread::spawn(move || {
                    let (mut guest, _) = Guest::enter(at, TOKEN, &format!("pilot/{number}"));
                    let mut heard = Vec::new();
                    // Until the connection ends.
                    while send(&mut guest.0, &FromPilot::Ask, LONG).is_ok()
                        && let Ok(answer) = receive::<FromCoordinator>(&mut guest.0, LONG, 1 << 20)
                    {
                        heard.push(answer);
                    }
                    heard
                })
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

fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LONG, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Counts events: at once, or as many chunks as the test permits.
struct Shop {
    permits: Option<Arc<AtomicU64>>,
    done: Arc<AtomicU64>,
}

struct Hand(Option<Arc<AtomicU64>>, Arc<AtomicU64>);

impl Worker for Hand {
    fn perform(&mut self, chunk: &Chunk) -> Result<Done, String> {
        if let Some(permits) = &self.0 {
            wait_for("a permit", || {
                permits.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
            });
        }
        self.1.fetch_add(1, Ordering::SeqCst);
        Ok(Done { events: chunk.events, digest: chunk.first, cpu: 0.0, wall: 0.01 })
    }
}

impl Workshop for Shop {
    fn worker(&self, _: &Job) -> Result<Box<dyn Worker>, String> {
        Ok(Box::new(Hand(self.permits.clone(), Arc::clone(&self.done))))
    }

    fn about(&self, _: &Job) -> serde_json::Value {
        serde_json::json!({ "notes": ["a test"] })
    }
}

fn order(address: SocketAddr, token: &str, slots: u32) -> Order {
    Order { address: address.to_string(), token: token.to_owned(), node: "here".to_owned(), slots, patience: 30.0 }
}

fn all_is_well(ledger: &dyn Ledger, events: u64) {
    let totals = ledger.totals().unwrap();
    let invariants = Invariants { planned: events.div_ceil(10), events, totals };
    assert_eq!(invariants.broken(), Vec::<String>::new());
    assert_eq!(totals.digest, (0..events.div_ceil(10)).map(|index| index * 10).sum::<u64>());
}

#[test]
fn pilots_outlive_their_coordinator_and_offer_again_what_was_not_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("l");
    let mut coordinator = Coordinator::start(Box::new(create(&path, 1005)), settings(loopback())).unwrap();
    let at = coordinator.address();
    let permits = Arc::new(AtomicU64::new(0));
    let shop = Arc::new(Shop { permits: Some(Arc::clone(&permits)), done: Arc::default() });
    let pilot = std::thread::spawn(move || fly(&order(at, TOKEN, 4), shop));
    for _ in 0..2 {
        // Every slot is there and has something in its hands when the coordinator goes; some of it is done meanwhile.
        wait_for("all slots", || coordinator.connected() == 4);
        let before = coordinator.snapshot().counted;
        permits.fetch_add(20, Ordering::SeqCst);
        wait_for("chunks", || coordinator.snapshot().counted >= before + 15);
        // Its threads go, its connections with them; the next one listens at the same place a little later.
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
    all_is_well(&*ledger, 1005);
    assert!(tally.connections >= 12, "four slots met three coordinators: {tally:?}");
    assert_eq!(tally.counted, 101, "{tally:?}");
    assert_eq!(ledger.descriptions().unwrap()[0].1["notes"][0], "a test");
}

#[test]
fn a_pilot_refuses_a_coordinator_without_the_token_and_gives_up_on_none() {
    let folder = tempfile::tempdir().unwrap();
    let coordinator = Coordinator::start(Box::new(create(&folder.path().join("l"), 10)), settings(loopback())).unwrap();
    let shop = || Arc::new(Shop { permits: None, done: Arc::default() });
    let wrong = fly(&order(coordinator.address(), "another token than that", 1), shop());
    assert!(matches!(wrong, Err(Error::Refused(_))), "{wrong:?}");
    // Somebody who listens and does not know the token cannot hand out work.
    let listener = std::net::TcpListener::bind(loopback()).unwrap();
    let at = listener.local_addr().unwrap();
    let liar = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        send(&mut stream, &FromCoordinator::Challenge { version: farm::VERSION, nonce: "x".to_owned() }, LONG).unwrap();
        let _: FromPilot = receive(&mut stream, LONG, 1 << 20).unwrap();
        let job =
            Job { name: "evil".to_owned(), work: serde_json::Value::Null, seed: 0, first: 0, events: 1, chunk: 1 };
        let (proof, farm) = ("0".repeat(64), "test".to_owned());
        let welcome = FromCoordinator::Welcome { proof, farm, job: Box::new(job), beat: 1.0 };
        send(&mut stream, &welcome, LONG).unwrap();
    });
    let fooled = fly(&order(at, TOKEN, 1), shop());
    assert!(matches!(&fooled, Err(Error::Refused(reason)) if reason.contains("token")), "{fooled:?}");
    liar.join().unwrap();
    let alone = fly(&Order { patience: 0.2, ..order(at, TOKEN, 1) }, shop());
    assert!(matches!(alone, Err(Error::Away { .. })), "{alone:?}");
}

#[test]
fn many_pilots_make_every_chunk_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let coordinator =
        Coordinator::start(Box::new(create(&folder.path().join("l"), 20_000)), settings(loopback())).unwrap();
    let done = Arc::new(AtomicU64::new(0));
    let shop = Arc::new(Shop { permits: None, done: Arc::clone(&done) });
    let tally = fly(&order(coordinator.address(), TOKEN, 64), shop).unwrap();
    let ledger = coordinator.end().unwrap();
    all_is_well(&*ledger, 20_000);
    assert_eq!(tally.counted, 2_000);
    // The last chunks may be given out twice.
    assert_eq!(done.load(Ordering::SeqCst), 2_000 + tally.refused);
}
