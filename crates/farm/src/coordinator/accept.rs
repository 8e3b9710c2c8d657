//! Letting connections in: a bounded number, each with a small thread of its own.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use super::committer::Entry;
use super::{Shared, conversation};

/// Stack of a thread that talks to a pilot, bytes: messages are on the heap.
const STACK: usize = 256 << 10;

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
    // Who comes when the house is full is turned away before a byte is read.
    if shared.guests.fetch_add(1, Ordering::SeqCst) >= shared.settings.connections {
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
