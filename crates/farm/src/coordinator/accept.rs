//! Letting pilots in: a bounded number, each with a small thread of its own.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use channel::{AcceptHandler, PendingChannel};
use socket2::{Domain, Protocol, Socket, Type};

use super::committer::PendingCommit;
use super::{CoordinatorShared, conversation, incident};
use crate::message::FromCoordinator;

/// Stack of a thread that talks to a pilot, bytes: messages are on the heap.
const STACK: usize = 256 << 10;
/// Connections that may wait to be accepted; the kernel bounds it further (`net.core.somaxconn`).
const QUEUE: i32 = 4096;
/// Strangers that are written down one by one.
pub(super) const TOLD: u64 = 100;
/// Time for a pilot to take that there is no room for it: what it is told fits into a new socket's buffer.
const TURNED_AWAY: Duration = Duration::from_millis(100);

/// Listens. A thousand pilots that come at one moment, such as after a restart, wait in the queue and not in their
/// kernels' timers: the standard library's queue is too short for that.
pub(super) fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A coordinator that died leaves connections behind that would keep the next one from its port.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(QUEUE)?;
    Ok(socket.into())
}

/// Starts a thread for each pilot, while there is room.
pub(super) struct PilotHandler {
    pub(super) shared: Arc<CoordinatorShared>,
    pub(super) say: SyncSender<PendingCommit>,
}

impl PilotHandler {
    fn turn_away(&self, pending: PendingChannel) {
        let connections = self.shared.settings.connections;
        // Whether it hears that does not matter: a pilot comes again in any case.
        let _ = pending
            .finish(TURNED_AWAY)
            .and_then(|mut channel| channel.send(&FromCoordinator::Full { connections }, TURNED_AWAY));
    }
}

impl AcceptHandler for PilotHandler {
    fn accept(&mut self, pending: PendingChannel) {
        if self.shared.guests.fetch_add(1, Ordering::SeqCst) >= self.shared.settings.connections {
            self.shared.guests.fetch_sub(1, Ordering::SeqCst);
            self.turn_away(pending);
            return;
        }
        let (house, say) = (Arc::clone(&self.shared), self.say.clone());
        let started = std::thread::Builder::new().name("pilot".to_owned()).stack_size(STACK).spawn(move || {
            // What goes wrong with one pilot ends this connection alone: a pilot comes back.
            let _ = conversation::hold(pending, &house, &say);
            house.guests.fetch_sub(1, Ordering::SeqCst);
        });
        if started.is_err() {
            self.shared.guests.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn refuse(&mut self, from: SocketAddr, why: &channel::Error) {
        if self.shared.board().stranger() <= TOLD {
            // Where so much waits to be written, strangers are left out: who lets pilots in must not wait for a disk.
            let _ = self.say.try_send(incident("stranger", "", None, format!("{from}: {why}")));
        }
    }
}
