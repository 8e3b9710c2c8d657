//! One thread that accepts connections. A client that has not authenticated yet costs a socket and a few bytes, but no
//! thread. If there are too many such clients, the oldest is dropped, so that silent ones cannot keep others out.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kernels::poll::PollSet;
use os::process::{LimitedResource, limit};
use snow::HandshakeState;

use crate::handshake::{self, FIRST};
use crate::stream::TimedStream;
use crate::{Channel, Error, Result, Service, Token};

/// Connections accepted before waiting clients are served again.
const BURST: usize = 64;
/// Pause when the system has no more sockets and there is no waiting client to drop.
const PAUSE: Duration = Duration::from_millis(20);

/// Limits on clients that have not authenticated.
#[derive(Debug, Clone, Copy)]
pub struct AcceptorLimits {
    /// Most such clients at one time; a quarter of the process's limit of open files if that is less.
    pub waiting: usize,
    /// A client younger than this is not dropped to make room; newer ones wait in the kernel's queue.
    pub grace: Duration,
    /// A client older than this is dropped in any case.
    pub deadline: Duration,
}

impl Default for AcceptorLimits {
    fn default() -> Self {
        Self { waiting: 1024, grace: Duration::from_millis(100), deadline: Duration::from_secs(5) }
    }
}

/// Callbacks for connections. The acceptor's thread calls them, so they must not block.
pub trait AcceptHandler: Send {
    /// A client has proved that it knows the token. Dropping the connection rejects it.
    fn accept(&mut self, pending: PendingChannel);

    /// A client that had not authenticated was dropped.
    fn refuse(&mut self, from: SocketAddr, why: &Error);
}

/// A connection whose client knows the token, before the server has finished the handshake.
#[derive(Debug)]
pub struct PendingChannel {
    stream: TcpStream,
    state: HandshakeState,
}

impl PendingChannel {
    /// Finishes the handshake.
    ///
    /// # Errors
    /// When the client has disconnected.
    pub fn finish(self, timeout: Duration) -> Result<Channel> {
        let deadline = Instant::now() + timeout;
        self.stream.set_nonblocking(false).map_err(Error::io("set a connection up"))?;
        let mut stream = TimedStream::new(self.stream);
        let (cipher, reply) = handshake::reply(self.state)?;
        stream.write_all(&reply, deadline)?;
        Ok(Channel::new(stream, cipher))
    }
}

/// Listens until it is dropped.
#[derive(Debug)]
pub struct Acceptor {
    /// Closing it ends the thread.
    waker: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Acceptor {
    /// Accepts connections of a listener in a new thread, which inherits the network namespace of the calling one.
    ///
    /// # Errors
    /// When the listener or the thread cannot be set up.
    pub fn start(
        listener: TcpListener,
        service: Service,
        token: &Token,
        limits: AcceptorLimits,
        handler: impl AcceptHandler + 'static,
    ) -> Result<Self> {
        listener.set_nonblocking(true).map_err(Error::io("set a listener up"))?;
        let (waker, woken) = UnixStream::pair().map_err(Error::io("make a pair of sockets"))?;
        let files = limit(LimitedResource::OpenFiles).map_or(usize::MAX, |soft| soft as usize);
        let limits = AcceptorLimits { waiting: limits.waiting.min(files / 4).max(1), ..limits };
        let key = token.key(&service)?;
        let mut accepting = AcceptLoop { listener, service, key, limits, handler, waiting: VecDeque::new() };
        let thread = std::thread::Builder::new()
            .name("acceptor".to_owned())
            .spawn(move || while accepting.step(&woken) {})
            .map_err(Error::io("start a thread"))?;
        Ok(Self { waker: Some(waker), thread: Some(thread) })
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.waker = None;
        if let Some(thread) = self.thread.take() {
            // A handler that panicked has ended the thread already.
            let _ = thread.join();
        }
    }
}

/// A client that has not authenticated yet.
struct WaitingClient {
    stream: TcpStream,
    from: SocketAddr,
    nonce: String,
    came: Instant,
    first: [u8; FIRST],
    have: usize,
}

impl WaitingClient {
    fn greet(mut stream: TcpStream, from: SocketAddr, service: &Service) -> Result<Self> {
        let (greeting, nonce) = handshake::greet(service)?;
        let set_up = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
        set_up.map_err(Error::io("set a connection up"))?;
        // A new socket's send buffer is empty, so the whole greeting must fit.
        match stream.write(&greeting) {
            Ok(count) if count == greeting.len() => {}
            Ok(_) => return Err(Error::Gone("it does not take the greeting".to_owned())),
            Err(error) => return Err(Error::gone(error)),
        }
        Ok(Self { stream, from, nonce, came: Instant::now(), first: [0; FIRST], have: 0 })
    }

    /// Reads the available bytes; true when the first message is complete.
    fn receive(&mut self) -> Result<bool> {
        while self.have < FIRST {
            match self.stream.read(&mut self.first[self.have..]) {
                Ok(0) => return Err(Error::Gone("it closed the connection".to_owned())),
                Ok(count) => self.have += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::gone(error)),
            }
        }
        Ok(true)
    }
}

struct AcceptLoop<H> {
    listener: TcpListener,
    service: Service,
    key: [u8; 32],
    limits: AcceptorLimits,
    handler: H,
    /// Oldest first.
    waiting: VecDeque<WaitingClient>,
}

impl<H: AcceptHandler> AcceptLoop<H> {
    /// Waits for the next event and handles it; false when the acceptor ends.
    fn step(&mut self, woken: &UnixStream) -> bool {
        let grace = self.grace();
        let age = self.waiting.front().map(|oldest| oldest.came.elapsed());
        let due = age.map(|age| self.limits.deadline.saturating_sub(age));
        let ready: Vec<usize> = {
            let mut set = PollSet::new();
            set.add(woken.as_fd());
            self.waiting.iter().for_each(|one| set.add(one.stream.as_fd()));
            if grace.is_none() {
                set.add(self.listener.as_fd());
            }
            match set.wait(grace.or(due).map(|wait| wait.min(due.unwrap_or(wait)))) {
                Ok(_) => set.ready().collect(),
                Err(_) => {
                    kernels::timer::sleep(PAUSE);
                    return true;
                }
            }
        };
        if ready.first() == Some(&0) {
            return false;
        }
        let listener = 1 + self.waiting.len();
        let newcomers = ready.last() == Some(&listener);
        self.receive(ready.into_iter().filter(|place| *place < listener).map(|place| place - 1));
        self.drop_late();
        if newcomers {
            self.accept_all();
        }
        true
    }

    /// How long new connections must still wait; `None` when there is room, or the oldest client may be dropped.
    fn grace(&self) -> Option<Duration> {
        let full = self.waiting.len() >= self.limits.waiting;
        let oldest = self.waiting.front().filter(|_| full)?;
        Some(self.limits.grace.saturating_sub(oldest.came.elapsed())).filter(|wait| !wait.is_zero())
    }

    /// Reads from the clients at these positions, which ascend.
    fn receive(&mut self, places: impl DoubleEndedIterator<Item = usize>) {
        // From the last one, so that removals do not shift the positions still to come.
        for place in places.rev() {
            let Some(client) = self.waiting.get_mut(place) else { continue };
            let complete = client.receive();
            if let Ok(false) = complete {
                continue;
            }
            let Some(client) = self.waiting.remove(place) else { continue };
            match complete.map(|_| ()) {
                Ok(()) => self.verify(client),
                Err(error) => self.handler.refuse(client.from, &error),
            }
        }
    }

    fn verify(&mut self, mut client: WaitingClient) {
        match handshake::verify(&self.key, &self.service, &client.nonce, &client.first) {
            Ok(state) => self.handler.accept(PendingChannel { stream: client.stream, state }),
            Err(error) => {
                // A failed send is ignored: the connection is dropped in any case.
                let _ = client.stream.write(&handshake::refusal());
                self.handler.refuse(client.from, &error);
            }
        }
    }

    fn drop_late(&mut self) {
        while self.waiting.front().is_some_and(|oldest| oldest.came.elapsed() >= self.limits.deadline) {
            self.drop_oldest(&Error::Silent);
        }
    }

    fn drop_oldest(&mut self, why: &Error) -> bool {
        let oldest = self.waiting.pop_front();
        oldest.is_some_and(|oldest| {
            self.handler.refuse(oldest.from, why);
            true
        })
    }

    fn accept_all(&mut self) {
        for _ in 0..BURST {
            if self.grace().is_some() {
                return;
            }
            match self.listener.accept() {
                Ok((stream, from)) => {
                    if self.waiting.len() >= self.limits.waiting {
                        self.drop_oldest(&Error::Crowded);
                    }
                    match WaitingClient::greet(stream, from, &self.service) {
                        Ok(client) => self.waiting.push_back(client),
                        Err(error) => self.handler.refuse(from, &error),
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The client left while it waited in the queue.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                // No socket is left in this process or system: dropping the oldest client frees one.
                Err(_) => {
                    if !self.drop_oldest(&Error::Crowded) {
                        kernels::timer::sleep(PAUSE);
                    }
                    return;
                }
            }
        }
    }
}
