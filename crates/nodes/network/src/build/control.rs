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

/// When a node started, by its own batch clock: setting the wall clock changes neither the start nor the rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct StartMoment {
    /// When it did, nanoseconds.
    pub(super) began: u64,
    /// When it was to start: the moment that all nodes share.
    pub(super) due: u64,
}

/// Waits for the start.
pub(super) fn start(requests: &mpsc::Receiver<BuildRequest>) -> Result<StartMoment> {
    let BuildRequest::Start { at } = next(requests)? else {
        return Err(Error::Protocol("it sent no start".to_owned()));
    };
    let left = at.saturating_sub(kernels::clock::now());
    kernels::timer::sleep(Duration::from_nanos(left).min(Duration::from_secs(60)));
    let began = kernels::clock::now();
    Ok(StartMoment { began, due: at.min(began) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_start_by_the_batch_clock() {
        let begin = |at| {
            let (sender, requests) = mpsc::channel();
            sender.send(BuildRequest::Start { at }).unwrap();
            start(&requests).unwrap()
        };
        let soon = kernels::clock::now() + 20_000_000;
        let waited = begin(soon);
        assert!(waited.began >= soon && waited.due == soon, "{waited:?} {soon}");
        // A message that comes late does not move the moment that all nodes share.
        let past = kernels::clock::now().saturating_sub(5_000_000);
        assert_eq!(begin(past).due, past);
    }
}
