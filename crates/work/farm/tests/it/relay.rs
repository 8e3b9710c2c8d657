//! A relay between pilots and their coordinator that tries to make them do another job.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use farm::{
    Attempt, Chunk, ChunkResult, ChunkWorker, ChunkWorkers, Coordinator, CoordinatorSettings, Farm, FarmJob,
    PilotConfig, SqliteLedger, run_pilot,
};

const TOKEN: &str = "the token of these tests";

fn coordinator(folder: &Path, name: &str, token: &str) -> Coordinator {
    let job = FarmJob { name: name.to_owned(), seed: 1, events: 20, chunk: 10, ..FarmJob::default() };
    let farm = Farm {
        id: name.to_owned(),
        job,
        token: token.to_owned(),
        key: "the key of these tests".to_owned(),
        address: String::new(),
        created: farm::now(),
        settings: serde_json::Value::Null,
    };
    let ledger = SqliteLedger::create(&folder.join(channel::nonce().unwrap()), &farm).unwrap();
    Coordinator::start(Box::new(ledger), CoordinatorSettings::at(([127, 0, 0, 1], 0).into())).unwrap()
}

/// Records the names of the jobs that it is asked to do.
#[derive(Default)]
struct JobNames(Mutex<Vec<String>>);

struct IdleWorker;

impl ChunkWorker for IdleWorker {
    fn perform(&mut self, chunk: &Chunk, _: &Attempt) -> Result<ChunkResult, String> {
        Ok(ChunkResult { events: chunk.events, digest: chunk.first, ..ChunkResult::default() })
    }
}

impl ChunkWorkers for JobNames {
    fn worker(&self, job: &FarmJob) -> Result<Box<dyn ChunkWorker>, String> {
        self.0.lock().unwrap().push(job.name.clone());
        Ok(Box::new(IdleWorker))
    }

    fn about(&self, _: &FarmJob) -> serde_json::Value {
        serde_json::Value::Null
    }
}

/// The relay's change to the bytes from coordinator to pilot, from an offset on.
#[derive(Debug, Clone)]
enum StreamTampering {
    Flip(usize),
    Cut(usize),
    /// Bytes of another coordinator take their place.
    Splice(usize, Vec<u8>),
    /// The pilot is connected with another coordinator.
    Redirect(SocketAddr),
}

fn copy(mut from: TcpStream, mut to: TcpStream, tampering: Option<&StreamTampering>) -> Vec<u8> {
    let (mut passed, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let begin = passed.len();
        passed.extend_from_slice(&buffer[..count]);
        let mut out = buffer[..count].to_vec();
        let within = |at: usize| (begin..begin + count).contains(&at).then(|| at - begin);
        match tampering {
            Some(StreamTampering::Flip(at)) => within(*at).into_iter().for_each(|at| out[at] ^= 0x10),
            Some(StreamTampering::Cut(at)) if begin + count > *at => {
                let _ = to.write_all(&out[..at.saturating_sub(begin)]);
                break;
            }
            Some(StreamTampering::Splice(at, other)) => {
                for (place, byte) in out.iter_mut().enumerate().filter(|(place, _)| begin + place >= *at) {
                    *byte = other.get(begin + place).copied().unwrap_or(*byte);
                }
            }
            _ => {}
        }
        if to.write_all(&out).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    passed
}

/// Relays connections, and tampers with the first.
struct Relay {
    address: SocketAddr,
    end: Arc<AtomicBool>,
    thread: JoinHandle<Vec<u8>>,
}

impl Relay {
    fn start(coordinator: SocketAddr, mut tampering: Option<StreamTampering>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, end) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let ended = Arc::clone(&end);
        let thread = || std::thread::Builder::new().name("relay".to_owned());
        let work = move || {
            let mut said = Vec::new();
            while let Ok((pilot, _)) = listener.accept() {
                if ended.load(Ordering::SeqCst) {
                    break;
                }
                let tampering = tampering.take();
                let to = if let Some(StreamTampering::Redirect(other)) = &tampering { *other } else { coordinator };
                let there = TcpStream::connect(to).unwrap();
                let (up, down) = (pilot.try_clone().unwrap(), there.try_clone().unwrap());
                thread().spawn(move || copy(up, down, None)).unwrap();
                said.push(thread().spawn(move || copy(there, pilot, tampering.as_ref())).unwrap());
            }
            said.into_iter().next().map(|first| first.join().unwrap()).unwrap_or_default()
        };
        Self { address, end, thread: thread().spawn(work).unwrap() }
    }

    /// Bytes that the coordinator sent on the first connection.
    fn end(self) -> Vec<u8> {
        self.end.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address).unwrap());
        self.thread.join().unwrap()
    }
}

/// Runs a pilot whose first connection is tampered with. Returns the jobs that it did, and the bytes of the
/// coordinator.
fn run(name: &str, tampering: Option<StreamTampering>) -> (Vec<String>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let coordinator = coordinator(folder.path(), name, TOKEN);
    let relay = Relay::start(coordinator.address(), tampering.clone());
    let (address, token, node) = (relay.address.to_string(), TOKEN.to_owned(), "here".to_owned());
    let names = Arc::new(JobNames::default());
    let order = PilotConfig { address, token, node, slots: 1, patience: 60.0 };
    let tally = run_pilot(&order, Arc::clone(&names) as Arc<dyn ChunkWorkers>);
    let tally = tally.unwrap_or_else(|error| panic!("{tampering:?}: {error}"));
    assert!(coordinator.finished() && coordinator.snapshot().counted == 2, "{tampering:?}: {tally:?}");
    let names = names.0.lock().unwrap().clone();
    (names, relay.end())
}

#[test]
fn no_relay_makes_a_pilot_do_another_job() {
    let (names, evil) = run("evil", None);
    assert_eq!(names, ["evil"], "without tampering the relay must change nothing");
    assert!(!evil.windows(4).any(|part| part == b"evil"), "the job was sent in clear");
    let folder = tempfile::tempdir().unwrap();
    let other = coordinator(folder.path(), "evil", "the token of another farm");
    // In the greeting, in the reply of the handshake, and in the frames after it, whose first holds the job.
    let places = [3, 60, 80, 110, 140, 250, 330];
    assert!(evil.len() > 330, "{} bytes", evil.len());
    let places = places.into_iter();
    let tamperings = places.flat_map(|at| {
        [StreamTampering::Flip(at), StreamTampering::Cut(at), StreamTampering::Splice(at, evil.clone())]
    });
    // Most of their time pilots wait before they try again.
    std::thread::scope(|scope| {
        for tampering in tamperings.chain([StreamTampering::Redirect(other.address())]) {
            let honest = move || assert_eq!(run("honest", Some(tampering.clone())).0, ["honest"], "{tampering:?}");
            std::thread::Builder::new().name("pilot".to_owned()).spawn_scoped(scope, honest).unwrap();
        }
    });
}
