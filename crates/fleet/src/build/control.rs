//! What a working node shares with the thread that hears the driver, and the steps at which it waits for the driver.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use super::message::{BuildReply, BuildRequest};
use crate::{Error, Result};

/// What a working node shares with the thread that hears the driver.
#[derive(Debug, Default)]
pub(super) struct Control {
    pub(super) stop: AtomicBool,
    pub(super) die: AtomicBool,
    pub(super) more: Mutex<Vec<u32>>,
}

impl Control {
    pub(super) fn ended(&self) -> bool {
        self.stop.load(Relaxed) || self.die.load(Relaxed)
    }

    /// Events that the driver gave since the last time.
    pub(super) fn given(&self) -> Vec<u32> {
        std::mem::take(&mut self.more.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What a working node says.
pub(super) type Tell<'a> = &'a mut dyn FnMut(BuildReply) -> Result<()>;

/// Waits for what the driver says next.
pub(super) fn next(told: &mpsc::Receiver<BuildRequest>) -> Result<BuildRequest> {
    told.recv_timeout(Duration::from_secs(60)).map_err(|_| Error::Gone("the driver says nothing".to_owned()))
}

/// Waits for the addresses of the nodes of the other role.
pub(super) fn peers(told: &mpsc::Receiver<BuildRequest>) -> Result<Vec<SocketAddr>> {
    match next(told)? {
        BuildRequest::Peers { peers } => Ok(peers),
        _ => Err(Error::Protocol("no peers".to_owned())),
    }
}

/// Waits for the start; the moment at which it really was, by the batch clock and since 1970.
pub(super) fn start(told: &mpsc::Receiver<BuildRequest>) -> Result<(u64, u64)> {
    let BuildRequest::Start { at } = next(told)? else { return Err(Error::Protocol("no start".to_owned())) };
    let left = at.saturating_sub(sys::clock::realtime());
    std::thread::sleep(Duration::from_nanos(left).min(Duration::from_secs(60)));
    Ok((sys::clock::now(), sys::clock::realtime()))
}
