//! The futex system call.

use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::futex::FutexScope;

fn operation(base: i32, scope: FutexScope) -> i32 {
    match scope {
        FutexScope::Process => base | libc::FUTEX_PRIVATE_FLAG,
        FutexScope::Shared => base,
    }
}

#[inline]
pub(super) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>, scope: FutexScope) -> Result<bool> {
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

#[inline]
pub(super) fn wake(word: &AtomicU32, count: u32, scope: FutexScope) -> Result<u32> {
    let count = i32::try_from(count).unwrap_or(i32::MAX);
    // SAFETY: waking reads nothing through the pointer; it only identifies the word.
    let answer = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation(libc::FUTEX_WAKE, scope), count) };
    u32::try_from(answer).map_err(|_| Error::last("wake threads that wait for a word of memory"))
}
