//! Listening, and one thread for each of a few clients.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use channel::{AcceptHandler, Acceptor, AcceptorLimits, PendingChannel, Token};

use super::lease::TurnQueue;
use super::shared::{ListenSettings, ServerShared};
use super::{FromServer, SERVICE, session};
use crate::{Error, Result};

/// Time for a client to take that there is no room for it: what it is told fits into a new socket's buffer.
const TURNED_AWAY: Duration = Duration::from_millis(100);

/// A server, which listens as long as this value is there.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    house: Arc<ServerShared>,
    _acceptor: Acceptor,
}

impl Server {
    /// Begins to listen, in a thread that lives where the calling thread does (its network namespace included).
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub fn start(settings: ListenSettings) -> Result<Self> {
        let wanted = SocketAddr::new(settings.address, settings.port);
        let listener = TcpListener::bind(wanted).map_err(Error::io(format!("listen on {wanted}")))?;
        let address = listener.local_addr().map_err(Error::io("read the own address"))?;
        let house = Arc::new(ServerShared {
            settings,
            turns: TurnQueue::default(),
            stop: AtomicBool::new(false),
            guests: AtomicUsize::new(0),
        });
        let (token, handler) = (house.settings.token.clone(), ClientHandler(Arc::clone(&house)));
        let acceptor = Acceptor::start(listener, SERVICE, &token, AcceptorLimits::default(), handler)?;
        Ok(Self { address, house, _acceptor: acceptor })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What lets a client in.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.house.settings.token
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.house.stop.store(true, Ordering::SeqCst);
    }
}

/// Starts a thread for each client, while there is room.
struct ClientHandler(Arc<ServerShared>);

impl AcceptHandler for ClientHandler {
    fn accept(&mut self, pending: PendingChannel) {
        let most = self.0.settings.limits.connections;
        if self.0.guests.fetch_add(1, Ordering::SeqCst) >= most {
            self.0.guests.fetch_sub(1, Ordering::SeqCst);
            let reason = format!("{most} clients are here already");
            // Whether it hears that does not matter.
            let _ = pending
                .finish(TURNED_AWAY)
                .and_then(|mut channel| channel.send(&FromServer::Refused { reason }, TURNED_AWAY));
            return;
        }
        let house = Arc::clone(&self.0);
        let started = std::thread::Builder::new().name("session".to_owned()).spawn(move || {
            // What goes wrong with one client is told to that client, and is nobody else's business.
            let _ = session::serve(pending, &house);
            house.guests.fetch_sub(1, Ordering::SeqCst);
        });
        if started.is_err() {
            self.0.guests.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// A stranger is turned away without a word, and leaves no trace.
    fn refuse(&mut self, _from: SocketAddr, _why: &channel::Error) {}
}
