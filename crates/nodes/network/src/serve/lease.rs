//! Leases: concurrent tests of two clients would disturb each other.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Waiting clients, first come first served; the first one has the lease.
#[derive(Debug, Default)]
pub(super) struct TurnQueue {
    queue: Mutex<(u64, VecDeque<u64>)>,
    moved: Condvar,
}

/// A place in the queue, released on drop.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    turns: &'a TurnQueue,
    ticket: u64,
}

impl TurnQueue {
    fn lock(&self) -> MutexGuard<'_, (u64, VecDeque<u64>)> {
        // The queue is consistent even after a panic.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters the queue. Returns the place and the number of clients ahead.
    pub(super) fn enter(&self) -> (Turn<'_>, usize) {
        let mut queue = self.lock();
        queue.0 += 1;
        let (ticket, ahead) = (queue.0, queue.1.len());
        queue.1.push_back(ticket);
        (Turn { turns: self, ticket }, ahead)
    }
}

impl Turn<'_> {
    /// Waits for the lease; false after `patience`.
    pub(super) fn wait(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let mut queue = self.turns.lock();
        while queue.1.front() != Some(&self.ticket) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            queue = self.turns.moved.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.lock().1.retain(|ticket| *ticket != self.ticket);
        self.turns.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_come_first_served() {
        let turns = TurnQueue::default();
        let (first, ahead) = turns.enter();
        let (second, behind) = turns.enter();
        assert_eq!((ahead, behind), (0, 1));
        assert!(first.wait(Duration::ZERO) && !second.wait(Duration::from_millis(5)));
        drop(first);
        assert!(second.wait(Duration::from_secs(1)));
    }
}
