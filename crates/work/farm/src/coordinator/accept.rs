//! Accepts pilots: a bounded number, each served by a separate thread.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use channel::{AcceptHandler, PendingChannel};
use socket2::{Domain, Protocol, Socket, Type};

use super::committer::PendingCommit;
use super::{CoordinatorShared, conversation};
use crate::message::FromCoordinator;

/// Stack of a thread that serves a pilot, bytes. Messages are on the heap.
const STACK: usize = 256 << 10;
/// Backlog of listen(2); the kernel bounds it further (`net.core.somaxconn`).
const BACKLOG: i32 = 4096;
/// Refused connections that are written down one by one.
pub(super) const MAX_NOTED: u64 = 100;
/// Time limit for the reply to a pilot that is turned away: the reply fits into the socket buffer.
const REPLY_TIMEOUT: Duration = Duration::from_millis(100);

/// Binds and listens. The backlog holds a thousand pilots that connect at one moment, such as after a restart. The
/// standard library's backlog is too short, and pilots beyond it would wait for retransmission timers.
pub(super) fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections in TIME_WAIT of a coordinator that died would keep the next one from binding its port.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Starts a thread for each pilot, up to the limit.
pub(super) struct PilotHandler {
    pub(super) shared: Arc<CoordinatorShared>,
    pub(super) to_ledger: SyncSender<PendingCommit>,
}

impl PilotHandler {
    fn turn_away(&self, pending: PendingChannel) {
        let connections = self.shared.settings.connections;
        // A failed send is ignored: the pilot retries in any case.
        let _ = pending
            .finish(REPLY_TIMEOUT)
            .and_then(|mut channel| channel.send(&FromCoordinator::Full { connections }, REPLY_TIMEOUT));
    }
}

impl AcceptHandler for PilotHandler {
    fn accept(&mut self, pending: PendingChannel) {
        if self.shared.pilots.fetch_add(1, Ordering::SeqCst) >= self.shared.settings.connections {
            self.shared.pilots.fetch_sub(1, Ordering::SeqCst);
            self.turn_away(pending);
            return;
        }
        let (shared, to_ledger) = (Arc::clone(&self.shared), self.to_ledger.clone());
        let started = std::thread::Builder::new().name("pilot".to_owned()).stack_size(STACK).spawn(move || {
            // An error ends this connection alone; the pilot reconnects.
            let _ = conversation::serve(pending, &shared, &to_ledger);
            shared.pilots.fetch_sub(1, Ordering::SeqCst);
        });
        if started.is_err() {
            self.shared.pilots.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn refuse(&mut self, from: SocketAddr, why: &channel::Error) {
        if self.shared.board().stranger() <= MAX_NOTED {
            // When the queue of the ledger thread is full, the note is dropped: accepting must not wait for a disk.
            let _ = self.to_ledger.try_send(self.shared.incident("stranger", "", None, format!("{from}: {why}")));
        }
    }
}
