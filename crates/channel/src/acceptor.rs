//! One thread that lets connections in. Who has not shown yet that it knows the token costs a socket and some bytes, no
//! thread; of too many such strangers the oldest is dropped, so that silent ones keep nobody out.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use snow::HandshakeState;
use sys::poll::PollSet;
use sys::process::{LimitedResource, limit};

use crate::handshake::{self, FIRST};
use crate::stream::TimedStream;
use crate::{Channel, Error, Result, Service, Token};

/// Connections taken before strangers are heard again.
const BURST: usize = 64;
/// Pause where the system gives no more sockets and there is no stranger to drop.
const PAUSE: Duration = Duration::from_millis(20);

/// What strangers may take.
#[derive(Debug, Clone, Copy)]
pub struct AcceptorLimits {
    /// Strangers at one time; a quarter of the files that the process may open if that is less.
    pub strangers: usize,
    /// A stranger so young is not dropped for others, who wait in the kernel's queue meanwhile.
    pub grace: Duration,
    /// A stranger so old is dropped in any case.
    pub deadline: Duration,
}

impl Default for AcceptorLimits {
    fn default() -> Self {
        Self { strangers: 1024, grace: Duration::from_millis(100), deadline: Duration::from_secs(5) }
    }
}

/// What becomes of connections. Both are called by the acceptor's thread and must not wait.
pub trait AcceptHandler: Send {
    /// A client has shown that it knows the token. Dropping the connection turns it away.
    fn accept(&mut self, pending: PendingChannel);

    /// A stranger was dropped.
    fn refuse(&mut self, from: SocketAddr, why: &Error);
}

/// A connection whose client knows the token, and waits for the server to finish the handshake.
#[derive(Debug)]
pub struct PendingChannel {
    stream: TcpStream,
    state: HandshakeState,
}

impl PendingChannel {
    /// Finishes the handshake.
    ///
    /// # Errors
    /// When the client is gone.
    pub fn finish(self, patience: Duration) -> Result<Channel> {
        let deadline = Instant::now() + patience;
        self.stream.set_nonblocking(false).map_err(Error::io("set a connection up"))?;
        let mut stream = TimedStream::new(self.stream);
        let (cipher, reply) = handshake::reply(self.state)?;
        stream.write_all(&reply, deadline)?;
        Ok(Channel::new(stream, cipher))
    }
}

/// Listens as long as this value is there.
#[derive(Debug)]
pub struct Acceptor {
    /// Its closing ends the thread.
    waker: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Acceptor {
    /// Takes connections of a listener, in a thread that lives where the calling thread does (its network namespace
    /// included).
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
        let files = limit(LimitedResource::OpenFiles)?.soft.map_or(usize::MAX, |soft| soft as usize);
        let limits = AcceptorLimits { strangers: limits.strangers.min(files / 4).max(1), ..limits };
        let key = token.key(&service)?;
        let mut accepting = AcceptLoop { listener, service, key, limits, handler, strangers: VecDeque::new() };
        let thread = std::thread::Builder::new()
            .name("acceptor".to_owned())
            .spawn(move || while accepting.turn(&woken) {})
            .map_err(Error::io("start a thread"))?;
        Ok(Self { waker: Some(waker), thread: Some(thread) })
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.waker = None;
        if let Some(thread) = self.thread.take() {
            // A handler that panicked ended the thread already.
            let _ = thread.join();
        }
    }
}

/// Who has not shown yet that it knows the token.
struct Stranger {
    stream: TcpStream,
    from: SocketAddr,
    nonce: String,
    came: Instant,
    first: [u8; FIRST],
    have: usize,
}

impl Stranger {
    fn greet(mut stream: TcpStream, from: SocketAddr, service: &Service) -> Result<Self> {
        let (greeting, nonce) = handshake::greet(service)?;
        let set_up = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
        set_up.map_err(Error::io("set a connection up"))?;
        // A new socket's buffer is empty: what does not fit is no greeting of ours.
        match stream.write(&greeting) {
            Ok(count) if count == greeting.len() => {}
            Ok(_) => return Err(Error::Gone("it takes no greeting".to_owned())),
            Err(error) => return Err(Error::gone(error)),
        }
        Ok(Self { stream, from, nonce, came: Instant::now(), first: [0; FIRST], have: 0 })
    }

    /// Whether it has said all that it must.
    fn hear(&mut self) -> Result<bool> {
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
    /// The oldest first.
    strangers: VecDeque<Stranger>,
}

impl<H: AcceptHandler> AcceptLoop<H> {
    /// Waits for something to happen and does what it asks for; false when the acceptor ends.
    fn turn(&mut self, woken: &UnixStream) -> bool {
        let grace = self.grace();
        let age = self.strangers.front().map(|oldest| oldest.came.elapsed());
        let due = age.map(|age| self.limits.deadline.saturating_sub(age));
        let ready: Vec<usize> = {
            let mut set = PollSet::new();
            set.add(woken.as_fd());
            self.strangers.iter().for_each(|one| set.add(one.stream.as_fd()));
            if grace.is_none() {
                set.add(self.listener.as_fd());
            }
            match set.wait(grace.or(due).map(|wait| wait.min(due.unwrap_or(wait)))) {
                Ok(_) => set.ready().collect(),
                Err(_) => {
                    std::thread::sleep(PAUSE);
                    return true;
                }
            }
        };
        if ready.first() == Some(&0) {
            return false;
        }
        let listener = 1 + self.strangers.len();
        let newcomers = ready.last() == Some(&listener);
        self.hear(ready.into_iter().filter(|place| *place < listener).map(|place| place - 1));
        self.drop_late();
        if newcomers {
            self.take();
        }
        true
    }

    /// How long newcomers must wait still; `None` when there is room, or the oldest stranger may be dropped for it.
    fn grace(&self) -> Option<Duration> {
        let full = self.strangers.len() >= self.limits.strangers;
        let oldest = self.strangers.front().filter(|_| full)?;
        Some(self.limits.grace.saturating_sub(oldest.came.elapsed())).filter(|wait| !wait.is_zero())
    }

    /// Hears strangers by their places, which ascend.
    fn hear(&mut self, places: impl DoubleEndedIterator<Item = usize>) {
        // From the last, so that those before keep their places.
        for place in places.rev() {
            let Some(stranger) = self.strangers.get_mut(place) else { continue };
            let heard = stranger.hear();
            if let Ok(false) = heard {
                continue;
            }
            let Some(stranger) = self.strangers.remove(place) else { continue };
            match heard.map(|_| ()) {
                Ok(()) => self.judge(stranger),
                Err(error) => self.handler.refuse(stranger.from, &error),
            }
        }
    }

    fn judge(&mut self, mut stranger: Stranger) {
        match handshake::verify(&self.key, &self.service, &stranger.nonce, &stranger.first) {
            Ok(state) => self.handler.accept(PendingChannel { stream: stranger.stream, state }),
            Err(error) => {
                // Whether it hears that does not matter.
                let _ = stranger.stream.write(&handshake::refusal());
                self.handler.refuse(stranger.from, &error);
            }
        }
    }

    fn drop_late(&mut self) {
        while self.strangers.front().is_some_and(|oldest| oldest.came.elapsed() >= self.limits.deadline) {
            self.drop_oldest(&Error::Silent);
        }
    }

    fn drop_oldest(&mut self, why: &Error) -> bool {
        let oldest = self.strangers.pop_front();
        oldest.is_some_and(|oldest| {
            self.handler.refuse(oldest.from, why);
            true
        })
    }

    fn take(&mut self) {
        for _ in 0..BURST {
            if self.grace().is_some() {
                return;
            }
            match self.listener.accept() {
                Ok((stream, from)) => {
                    if self.strangers.len() >= self.limits.strangers {
                        self.drop_oldest(&Error::Crowded);
                    }
                    match Stranger::greet(stream, from, &self.service) {
                        Ok(stranger) => self.strangers.push_back(stranger),
                        Err(error) => self.handler.refuse(from, &error),
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // One that left while it waited.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                // No socket is left in this process or system: the oldest stranger's serves the next.
                Err(_) => {
                    if !self.drop_oldest(&Error::Crowded) {
                        std::thread::sleep(PAUSE);
                    }
                    return;
                }
            }
        }
    }
}
