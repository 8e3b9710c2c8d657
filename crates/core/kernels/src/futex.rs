//! Waiting for a word of memory to change (`futex(2)`), within a process or between processes that share the word.

use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use crate::error::{Error, Result};

/// The threads that may wait for the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FutexScope {
    /// Threads of this process, which is cheaper.
    Process,
    /// Threads of any process that shares the memory, such as [`crate::memory::SharedCounters`].
    Shared,
}

fn operation(base: i32, scope: FutexScope) -> i32 {
    match scope {
        FutexScope::Process => base | libc::FUTEX_PRIVATE_FLAG,
        FutexScope::Shared => base,
    }
}

/// Sleeps while the word is `expected`, at most `timeout` (`None`: without a limit). Returns whether it was woken or
/// the word had already changed; `false` after the timeout. As with every futex, it may wake spuriously: check the word
/// and wait again.
#[inline]
pub fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, scope: FutexScope) -> Result<bool> {
    let time = timeout.map(|time| libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos() as _,
    });
    let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
    let operation = operation(libc::FUTEX_WAIT, scope);
    // SAFETY: the word is borrowed, so it stays mapped during the wait; the time is null or valid.
    let answer = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, expected, time) };
    if answer == 0 {
        return Ok(true);
    }
    let error = Error::last("wait for a word of memory");
    match error.errno() {
        Some(libc::EAGAIN | libc::EINTR) => Ok(true),
        Some(libc::ETIMEDOUT) => Ok(false),
        _ => Err(error),
    }
}

/// Wakes at most `count` threads that wait for the word, and returns their number.
#[inline]
pub fn wake(word: &AtomicU32, count: u32, scope: FutexScope) -> Result<u32> {
    let count = i32::try_from(count).unwrap_or(i32::MAX);
    // SAFETY: waking reads nothing through the pointer; it only identifies the word.
    let answer = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation(libc::FUTEX_WAKE, scope), count) };
    u32::try_from(answer).map_err(|_| Error::last("wake threads that wait for a word of memory"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;
    use std::thread;

    #[test]
    fn a_changed_word_does_not_sleep_and_time_runs_out() {
        let word = AtomicU32::new(1);
        assert!(wait(&word, 0, None, FutexScope::Process).unwrap());
        assert!(!wait(&word, 1, Some(Duration::from_millis(2)), FutexScope::Shared).unwrap());
        assert_eq!(wake(&word, 1, FutexScope::Process).unwrap(), 0);
    }

    #[test]
    fn two_threads_hand_a_word_back_and_forth() {
        let word = AtomicU32::new(0);
        let play = |mine: u32| {
            for _ in 0..200 {
                while word.load(Ordering::Acquire) != mine {
                    wait(&word, 1 - mine, Some(Duration::from_secs(5)), FutexScope::Process).unwrap();
                }
                word.store(1 - mine, Ordering::Release);
                wake(&word, 1, FutexScope::Process).unwrap();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| play(0));
            play(1);
        });
        assert_eq!(word.load(Ordering::Acquire), 0);
    }
}
