//! Sites of a test, and runs for them.
#![allow(clippy::unwrap_used, reason = "tests, helpers included")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use channel::Token;
use model::Run;
use report::Document;
use report::view::RunContext;
use serve::{Certificate, Held, Pusher, Server, ServerSettings, Views};
use store::{Access, Store};

/// The token of all tests.
pub(crate) const TOKEN: &str = "0123456789abcdef0123";

/// Views as the program has them, as far as the crates below it make them.
pub(crate) struct PlainViews;

impl Views for PlainViews {
    fn run(&self, held: &Held) -> Result<Document, String> {
        let context = RunContext { handle: Some(held.number.to_string()), ..RunContext::default() };
        Ok(report::view::run(&held.run, &context))
    }

    fn compare(&self, _: &dyn Store, runs: &[Held]) -> Result<Document, String> {
        let runs: Vec<&Run> = runs.iter().map(|held| held.run.as_ref()).collect();
        let comparison =
            compare::compare(&runs, &compare::CompareOptions::default()).map_err(|error| error.to_string())?;
        Ok(report::view::compare(&comparison, &report::view::CompareContext::default()))
    }

    fn fleet(&self, store: &dyn Store, runs: &[Held]) -> Result<Document, String> {
        self.compare(store, runs)
    }
}

/// A store in a folder that the test removes.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("runs.sqlite")
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A site that accepts runs.
    pub(crate) fn serve(&self) -> Server {
        serve(&self.store(), 0, None)
    }

    pub(crate) fn summaries(&self) -> Vec<store::Summary> {
        store::open(&self.store(), Access::Read).unwrap().summaries().unwrap()
    }
}

/// What a site on a store needs.
pub(crate) fn settings(store: &Path, address: &str, token: Option<&str>, accept: bool) -> ServerSettings {
    let accept = accept.then(|| store::open(store, Access::Write).unwrap());
    let store = store.to_owned();
    ServerSettings {
        address: address.parse().unwrap(),
        token: token.map(|token| Token::parse(token).unwrap()),
        certificate: None,
        open: Box::new(move || store::open(&store, Access::Read)),
        accept,
        views: Box::new(PlainViews),
    }
}

pub(crate) fn serve(store: &Path, port: u16, certificate: Option<Certificate>) -> Server {
    let settings = settings(store, &format!("127.0.0.1:{port}"), Some(TOKEN), true);
    Server::start(ServerSettings { certificate, ..settings }).unwrap()
}

pub(crate) fn pusher(server: &Server) -> Pusher {
    Pusher::new(&server.url(), Token::parse(TOKEN).unwrap(), None).unwrap()
}

/// One of the runs that come with the source.
pub(crate) fn recorded(name: &str) -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../tests/docs/{name}.json.zst"));
    store::load_document(&path).unwrap()
}

/// A small run of its own.
pub(crate) fn small(machine: &str, number: u32) -> Run {
    static SMALL: OnceLock<Run> = OnceLock::new();
    let cut = || {
        let mut run = recorded("alone");
        run.label = None;
        run.machine.facts.retain(|fact| fact.name.starts_with("kernel.") || fact.name.starts_with("cpu."));
        run.results.truncate(2);
        run.plan.entries.truncate(2);
        for result in &mut run.results {
            result.samples.truncate(4);
        }
        run
    };
    let mut run = SMALL.get_or_init(cut).clone();
    run.id = format!("{machine}-{number}");
    run.machine.name = machine.to_owned();
    run.machine.fingerprint = format!("{machine}-fingerprint");
    let (day, hour) = (number / 24 % 28 + 1, number % 24);
    run.session.started = format!("2026-10-{day:02}T{hour:02}:00:00Z");
    run
}

/// What a server answered: status, head, and body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Sends bytes and reads the answer; `None` if the server closed the connection without one.
pub(crate) fn send(server: &Server, bytes: &[u8]) -> Option<Answer> {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let _ = stream.write_all(bytes);
    answer(&mut stream)
}

pub(crate) fn answer(stream: &mut TcpStream) -> Option<Answer> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head: head.to_owned(), body: body.to_owned() })
}

/// Asks for a page of a site of this host.
pub(crate) fn get(server: &Server, path: &str) -> Answer {
    send(server, format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap()
}
