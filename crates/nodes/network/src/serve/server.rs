//! Listens, with one thread for each of a few clients.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use channel::{AcceptHandler, Acceptor, AcceptorLimits, PendingChannel, Token};

use super::lease::LeaseQueue;
use super::shared::{ListenSettings, ServerShared};
use super::{FromServer, SERVICE, session};
use crate::{Error, Result};

/// Time limit for the reply to a client that is turned away: the reply fits into the socket buffer.
const REPLY_TIMEOUT: Duration = Duration::from_millis(100);

/// A server, which listens until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<ServerShared>,
    _acceptor: Acceptor,
}

impl Server {
    /// Listens, in a thread that inherits the network namespace of the calling one.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub fn start(settings: ListenSettings) -> Result<Self> {
        let wanted = SocketAddr::new(settings.address, settings.port);
        let listener = TcpListener::bind(wanted).map_err(Error::io(format!("listen on {wanted}")))?;
        let address = listener.local_addr().map_err(Error::io("read the address of the listening socket"))?;
        let shared = Arc::new(ServerShared {
            settings,
            leases: LeaseQueue::default(),
            stop: AtomicBool::new(false),
            clients: AtomicUsize::new(0),
        });
        let (token, handler) = (shared.settings.token.clone(), ClientHandler(Arc::clone(&shared)));
        let acceptor = Acceptor::start(listener, SERVICE, &token, AcceptorLimits::default(), handler)?;
        Ok(Self { address, shared, _acceptor: acceptor })
    }

    /// The address it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token that clients must know.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.shared.settings.token
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
    }
}

/// Starts a thread for each client, up to the limit.
struct ClientHandler(Arc<ServerShared>);

impl AcceptHandler for ClientHandler {
    fn accept(&mut self, pending: PendingChannel) {
        let most = self.0.settings.limits.connections;
        if self.0.clients.fetch_add(1, Ordering::SeqCst) >= most {
            self.0.clients.fetch_sub(1, Ordering::SeqCst);
            let reason = format!("{most} clients are connected already");
            // A failed send is ignored: the connection is closed in any case.
            let _ = pending
                .finish(REPLY_TIMEOUT)
                .and_then(|mut channel| channel.send(&FromServer::Refused { reason }, REPLY_TIMEOUT));
            return;
        }
        let shared = Arc::clone(&self.0);
        let started = std::thread::Builder::new().name("session".to_owned()).spawn(move || {
            // An error concerns one client alone, which gets it as a reply.
            let _ = session::serve(pending, &shared);
            shared.clients.fetch_sub(1, Ordering::SeqCst);
        });
        if started.is_err() {
            self.0.clients.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// A client without the token is dropped without a reply or a log entry.
    fn refuse(&mut self, _from: SocketAddr, _why: &channel::Error) {}
}
