//! A server that echoes and records its input.

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

/// Messages that a server received and refused.
#[derive(Debug, Default)]
pub(crate) struct EchoLog {
    pub(crate) messages: Vec<String>,
    pub(crate) errors: Vec<String>,
    pub(crate) refused: Vec<String>,
}

#[derive(Clone)]
struct EchoHandler {
    seen: Arc<Mutex<EchoLog>>,
    timeout: Duration,
}

impl EchoHandler {
    fn echo(&self, pending: PendingChannel) -> Result<()> {
        let mut channel = pending.finish(self.timeout)?;
        loop {
            let message: String = channel.receive(self.timeout, MOST)?;
            self.seen.lock().unwrap().messages.push(message.clone());
            channel.send(&message, self.timeout)?;
        }
    }
}

impl AcceptHandler for EchoHandler {
    fn accept(&mut self, pending: PendingChannel) {
        let echo = self.clone();
        let talk = move || {
            let ended = echo.echo(pending).unwrap_err().to_string();
            echo.seen.lock().unwrap().errors.push(ended);
        };
        std::thread::Builder::new().name("echo".to_owned()).spawn(talk).unwrap();
    }

    fn refuse(&mut self, _from: SocketAddr, why: &Error) {
        self.seen.lock().unwrap().refused.push(why.to_string());
    }
}

/// A server for tests.
pub(crate) struct EchoServer {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Mutex<EchoLog>>,
    _acceptor: Acceptor,
}

impl EchoServer {
    pub(crate) fn start(limits: AcceptorLimits, timeout: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::default();
        let echo = EchoHandler { seen: Arc::clone(&seen), timeout };
        let acceptor = Acceptor::start(listener, SERVICE, &token(), limits, echo).unwrap();
        Self { address, seen, _acceptor: acceptor }
    }

    /// Waits until the server's log fulfils a condition.
    pub(crate) fn wait_for(&self, what: impl Fn(&EchoLog) -> bool) {
        let began = std::time::Instant::now();
        while !what(&self.seen.lock().unwrap()) {
            assert!(began.elapsed() < LONG, "{:?}", self.seen.lock().unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub(crate) fn connect(address: SocketAddr, timeout: Duration) -> Result<Channel> {
    Channel::connect(TcpStream::connect(address).unwrap(), &token(), &SERVICE, timeout)
}

pub(crate) fn ask(channel: &mut Channel, message: &str, timeout: Duration) -> Result<String> {
    channel.send(&message, timeout)?;
    channel.receive(timeout, MOST)
}
