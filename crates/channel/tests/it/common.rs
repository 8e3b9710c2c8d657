//! A server that sends back what it receives, and remembers it.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use channel::{AcceptHandler, Acceptor, AcceptorLimits, Channel, Error, PendingChannel, Result, Service, Token};

pub(crate) const SERVICE: Service = Service { name: "test", version: 7 };
pub(crate) const LONG: Duration = Duration::from_secs(60);
/// Longest message that the server takes, bytes.
pub(crate) const MOST: usize = 100_000;

pub(crate) fn token() -> Token {
    Token::parse("the token of these tests").unwrap()
}

/// What a server saw.
#[derive(Debug, Default)]
pub(crate) struct EchoLog {
    pub(crate) messages: Vec<String>,
    pub(crate) errors: Vec<String>,
    pub(crate) refused: Vec<String>,
}

#[derive(Clone)]
struct EchoHandler {
    seen: Arc<Mutex<EchoLog>>,
    patience: Duration,
}

impl EchoHandler {
    fn talk(&self, pending: PendingChannel) -> Result<()> {
        let mut channel = pending.finish(self.patience)?;
        loop {
            let message: String = channel.receive(self.patience, MOST)?;
            self.seen.lock().unwrap().messages.push(message.clone());
            channel.send(&message, self.patience)?;
        }
    }
}

impl AcceptHandler for EchoHandler {
    fn accept(&mut self, pending: PendingChannel) {
        let echo = self.clone();
        let talk = move || {
            let ended = echo.talk(pending).unwrap_err().to_string();
            echo.seen.lock().unwrap().errors.push(ended);
        };
        std::thread::Builder::new().name("echo".to_owned()).spawn(talk).unwrap();
    }

    fn refuse(&mut self, _from: SocketAddr, why: &Error) {
        self.seen.lock().unwrap().refused.push(why.to_string());
    }
}

/// A server of tests.
pub(crate) struct EchoServer {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Mutex<EchoLog>>,
    _acceptor: Acceptor,
}

impl EchoServer {
    pub(crate) fn start(limits: AcceptorLimits, patience: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::default();
        let echo = EchoHandler { seen: Arc::clone(&seen), patience };
        let acceptor = Acceptor::start(listener, SERVICE, &token(), limits, echo).unwrap();
        Self { address, seen, _acceptor: acceptor }
    }

    /// Waits until the server saw something.
    pub(crate) fn wait_for(&self, what: impl Fn(&EchoLog) -> bool) {
        let began = std::time::Instant::now();
        while !what(&self.seen.lock().unwrap()) {
            assert!(began.elapsed() < LONG, "{:?}", self.seen.lock().unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub(crate) fn connect(address: SocketAddr, patience: Duration) -> Result<Channel> {
    Channel::connect(TcpStream::connect(address).unwrap(), &token(), &SERVICE, patience)
}

pub(crate) fn ask(channel: &mut Channel, message: &str, patience: Duration) -> Result<String> {
    channel.send(&message, patience)?;
    channel.receive(patience, MOST)
}
