//! Sleeping until a time of the batch clock.

use std::ptr;
use std::time::Duration;

use crate::clock;
use crate::error::{Error, Result};
use crate::poll::PollSet;

/// Sleeps until [`crate::clock::now`] has reached `nanos`, also after interruptions; returns immediately if it has. The
/// delay is the difference to the clock on return.
#[inline]
pub fn sleep_until(nanos: u64) -> Result<()> {
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

/// Sleeps for so long. [`std::thread::sleep`] panics where the system refuses `clock_nanosleep`, as filters of system
/// calls may: this waits by `poll(2)` there.
pub fn sleep(length: Duration) {
    let until = clock::now().saturating_add(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX));
    if sleep_until(until).is_ok() {
        return;
    }
    loop {
        let left = until.saturating_sub(clock::now());
        if left == 0 || (PollSet::new().wait(Some(Duration::from_nanos(left))).is_err() && !interrupted()) {
            return;
        }
    }
}

fn interrupted() -> bool {
    std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
}

/// Nanoseconds by which the kernel may delay wake-ups of this thread to combine them (`PR_GET_TIMERSLACK`).
pub fn slack() -> Result<u64> {
    rustix::thread::current_timer_slack().map_err(|error| Error::os("read the timer slack", error))
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn never_wakes_early() {
        for millis in [0, 1, 3] {
            let until = clock::now() + millis * 1_000_000;
            sleep_until(until).unwrap();
            assert!(clock::now() >= until);
        }
        sleep_until(0).unwrap();
        assert!(slack().unwrap() > 0);
    }

    /// Has the kernel refuse one system call to the calling thread.
    fn refuse(call: libc::c_long) {
        let step = |code: u32, k: u32, jt, jf| libc::sock_filter { code: code as u16, jt, jf, k };
        let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
        let filter = [
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
            step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32, 0, 1),
            step(libc::BPF_RET | libc::BPF_K, refused, 0, 0),
            step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
        ];
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
        // SAFETY: the program and its filter are valid for the calls, which the kernel copies them in.
        unsafe {
            assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
            assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program), 0);
        }
    }

    #[test]
    fn a_refused_call_delays_as_long() {
        let length = Duration::from_millis(20);
        let slept = move |refused: bool| {
            if refused {
                refuse(libc::SYS_clock_nanosleep);
                assert!(sleep_until(clock::now() + 1_000_000).is_err());
            }
            let began = clock::now();
            sleep(length);
            Duration::from_nanos(clock::now() - began)
        };
        for refused in [false, true] {
            let slept = std::thread::spawn(move || slept(refused)).join().unwrap();
            assert!(slept >= length, "{slept:?}");
        }
        sleep(Duration::ZERO);
    }
}
