//! Letting connections in: a bounded number, each with a small thread of its own.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

use super::committer::Entry;
use super::{Shared, conversation};

/// Stack of a thread that talks to a pilot, bytes: messages are on the heap.
const STACK: usize = 256 << 10;
/// Connections that may wait to be accepted; the kernel bounds it further (`net.core.somaxconn`).
const QUEUE: i32 = 4096;
/// So many connections may be there that have not proved anything yet, and more in a large house.
const MOST_STRANGERS: usize = 64;

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

pub(super) fn listen(listener: &TcpListener, shared: &Arc<Shared>, say: &SyncSender<Entry>) {
    loop {
        let came = listener.accept();
        if shared.end.load(Ordering::SeqCst) {
            return;
        }
        match came {
            Ok((stream, _)) => talk(stream, shared, say),
            // Too many open files, or one that left while it waited: others may come.
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn talk(stream: TcpStream, shared: &Arc<Shared>, say: &SyncSender<Entry>) {
    // Who comes when the house is full is turned away before a byte is read, and so is who comes while too many have not
    // yet said who they are: strangers must not keep pilots out.
    let strangers = shared.settings.connections / 4;
    let full = shared.guests.fetch_add(1, Ordering::SeqCst) >= shared.settings.connections;
    if full || shared.strangers.load(Ordering::SeqCst) >= strangers.max(MOST_STRANGERS) {
        shared.guests.fetch_sub(1, Ordering::SeqCst);
        return;
    }
    let (house, say) = (Arc::clone(shared), say.clone());
    let started = std::thread::Builder::new().name("pilot".to_owned()).stack_size(STACK).spawn(move || {
        // What goes wrong with one pilot ends this connection alone: a pilot comes back, a stranger does not.
        let _ = conversation::hold(stream, &house, &say);
        house.guests.fetch_sub(1, Ordering::SeqCst);
    });
    if started.is_err() {
        shared.guests.fetch_sub(1, Ordering::SeqCst);
    }
}
