//! `clock_nanosleep(2)` and `timerfd_create(2)`.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

use crate::error::{Error, Result, check};

#[inline]
pub(super) fn sleep_until(nanos: u64) -> Result<()> {
    let time = libc::timespec { tv_sec: (nanos / 1_000_000_000) as _, tv_nsec: (nanos % 1_000_000_000) as _ };
    loop {
        // SAFETY: the time is valid for the call; an absolute sleep does not return a remaining time.
        let answer = unsafe {
            libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const time, ptr::null_mut())
        };
        match answer {
            0 => return Ok(()),
            libc::EINTR => {}
            errno => return Err(Error::os("sleep", std::io::Error::from_raw_os_error(errno))),
        }
    }
}

pub(super) fn slack() -> Result<u64> {
    // SAFETY: this option takes no argument and accesses no memory of this process.
    let nanos = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) };
    check("read the timer slack", nanos).map(|nanos| nanos as u64)
}

/// A timer that fires every period from its start, whether or not it is read.
#[derive(Debug)]
pub struct PeriodicTimer(OwnedFd);

impl PeriodicTimer {
    /// Starts it; it first fires after one period.
    pub fn start(period: Duration) -> Result<Self> {
        if period.is_zero() {
            return Err(Error::refused("start a timer", "its period is 0"));
        }
        // SAFETY: takes numbers and accesses no memory of this process.
        let fd = check("create a timer", unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) })?;
        // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let step = libc::timespec {
            tv_sec: libc::time_t::try_from(period.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: period.subsec_nanos() as _,
        };
        let times = libc::itimerspec { it_interval: step, it_value: step };
        // SAFETY: the times are valid for the call, and the previous ones are not requested.
        check("start a timer", unsafe { libc::timerfd_settime(fd.as_raw_fd(), 0, &raw const times, ptr::null_mut()) })?;
        Ok(Self(fd))
    }

    /// Waits until it fires, or returns at once if it has fired since the last wait. Returns the number of times: more
    /// than 1 means that periods were missed.
    #[inline]
    pub fn wait(&self) -> Result<u64> {
        let mut count = 0u64;
        let len = size_of_val(&count);
        // SAFETY: the pointer is writable for the given length.
        let got = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), len) };
        if got == len as isize { Ok(count) } else { Err(Error::last("wait for a timer")) }
    }
}

impl AsFd for PeriodicTimer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
