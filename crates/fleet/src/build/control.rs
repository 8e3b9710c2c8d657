//! State shared by a working node and the thread that reads the driver's messages, and the points at which it waits for
//! them.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use super::message::{BuildReply, BuildRequest};
use crate::{Error, Result};

/// State shared by a working node and the thread that reads the driver's messages.
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

    /// Events that the driver has assigned since the last call.
    pub(super) fn given(&self) -> Vec<u32> {
        std::mem::take(&mut self.more.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Sends a reply to the driver.
pub(super) type SendReply<'a> = &'a mut dyn FnMut(BuildReply) -> Result<()>;

/// Waits for the next message of the driver.
pub(super) fn next(requests: &mpsc::Receiver<BuildRequest>) -> Result<BuildRequest> {
    requests
        .recv_timeout(Duration::from_secs(60))
        .map_err(|_| Error::Gone("the driver sent nothing for 60 s".to_owned()))
}

/// Waits for the addresses of the nodes of the other role.
pub(super) fn peers(requests: &mpsc::Receiver<BuildRequest>) -> Result<Vec<SocketAddr>> {
    match next(requests)? {
        BuildRequest::Peers { peers } => Ok(peers),
        _ => Err(Error::Protocol("no peers".to_owned())),
    }
}

/// When a node started.
#[derive(Debug, Clone, Copy)]
pub(super) struct StartMoment {
    /// By the batch clock, nanoseconds.
    pub(super) began: u64,
    /// Nanoseconds since 1970, by the node's own clock.
    pub(super) moment: u64,
    /// When it was to start, by the batch clock: the moment that all nodes share.
    pub(super) due: u64,
}

/// Waits for the start.
pub(super) fn start(requests: &mpsc::Receiver<BuildRequest>) -> Result<StartMoment> {
    let BuildRequest::Start { at } = next(requests)? else {
        return Err(Error::Protocol("it sent no start".to_owned()));
    };
    let left = at.saturating_sub(sys::clock::realtime());
    std::thread::sleep(Duration::from_nanos(left).min(Duration::from_secs(60)));
    let (began, moment) = (sys::clock::now(), sys::clock::realtime());
    Ok(StartMoment { began, moment, due: began.saturating_sub(moment.saturating_sub(at)) })
}
