//! Leases: concurrent tests of two clients would disturb each other.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Waiting clients, first come first served; the first one has the lease.
#[derive(Debug, Default)]
pub(super) struct LeaseQueue {
    queue: Mutex<(u64, VecDeque<u64>)>,
    moved: Condvar,
}

/// A place in the queue, released on drop.
#[derive(Debug)]
pub(super) struct Lease<'a> {
    leases: &'a LeaseQueue,
    ticket: u64,
}

impl LeaseQueue {
    fn lock(&self) -> MutexGuard<'_, (u64, VecDeque<u64>)> {
        // The queue is consistent even after a panic.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters the queue. Returns the place and the number of clients ahead.
    pub(super) fn enter(&self) -> (Lease<'_>, usize) {
        let mut queue = self.lock();
        queue.0 += 1;
        let (ticket, ahead) = (queue.0, queue.1.len());
        queue.1.push_back(ticket);
        (Lease { leases: self, ticket }, ahead)
    }
}

impl Lease<'_> {
    /// Waits for the lease; false after `patience`.
    pub(super) fn wait(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let mut queue = self.leases.lock();
        while queue.1.front() != Some(&self.ticket) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            queue = self.leases.moved.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.leases.lock().1.retain(|ticket| *ticket != self.ticket);
        self.leases.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_come_first_served() {
        let leases = LeaseQueue::default();
        let (first, ahead) = leases.enter();
        let (second, behind) = leases.enter();
        assert_eq!((ahead, behind), (0, 1));
        assert!(first.wait(Duration::ZERO) && !second.wait(Duration::from_millis(5)));
        drop(first);
        assert!(second.wait(Duration::from_secs(1)));
    }
}
