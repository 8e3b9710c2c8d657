//! `fork(2)` with checks that make it safe.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use crate::error::{Error, Result};
use crate::process::child::{self, Child, ProcessExit};
use crate::{emulation, text};

/// Exit status of a forked closure that panicked, as in Rust's runtime.
const PANICKED: i32 = 101;

/// Forks. The child runs `work` and ends with its return value (the low 8 bits) by `_exit`, so that nothing of the
/// parent is flushed or dropped twice. Refused if this process has more than one thread, because a lock held by another
/// thread would never be released in the child.
pub fn fork(work: impl FnOnce() -> i32) -> Result<Child> {
    match thread_count()? {
        1 => {}
        more => return Err(Error::refused("fork", format!("this process has {more} threads, and only one survives"))),
    }
    // SAFETY: this process has one thread (checked above), so the child is a complete, consistent copy that may run
    // any code. It never returns into the caller's frames: a panic is caught, and it ends by `_exit`.
    match unsafe { libc::fork() } {
        -1 => Err(Error::last("fork")),
        0 => exit_now(catch_unwind(AssertUnwindSafe(work)).unwrap_or(PANICKED)),
        pid => Ok(Child::adopt(pid)),
    }
}

/// Forks a child that ends immediately with `code`, and waits for it: one operation of `os.fork_exit`.
pub fn fork_exit(code: i32) -> Result<ProcessExit> {
    // SAFETY: the child calls nothing but `_exit`, which is async-signal-safe.
    match unsafe { libc::fork() } {
        -1 => Err(Error::last("fork")),
        // SAFETY: ends the child immediately.
        0 => unsafe { libc::_exit(code) },
        pid => child::wait_for(pid, None),
    }
}

/// Ends this process immediately with `code`: no destructors, no flushing.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: does not return; skips clean-up, which Rust does not guarantee.
    unsafe { libc::_exit(code) }
}

/// Number of threads of this process now, without the one that an emulator of this program has in it, which its `fork`
/// sees to.
pub fn thread_count() -> Result<u32> {
    static EMULATORS: OnceLock<u32> = OnceLock::new();
    let threads: u32 = text::field_number(&text::read("/proc/self/status")?, "Threads")
        .ok_or_else(|| Error::refused("count the threads", "/proc/self/status has no line for them"))?;
    let theirs = *EMULATORS.get_or_init(|| u32::from(emulation::translator().is_some()));
    Ok(threads.saturating_sub(theirs).max(1))
}
