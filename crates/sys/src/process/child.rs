//! A child process, which is waited for exactly once.

use std::mem::MaybeUninit;

use crate::error::{Error, Result, check};
use crate::process::group;
use crate::signal::Signal;
use crate::usage::Usage;

/// How a process ended (`wait(2)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By `exit`, with this status: 0 to 255.
    Code(i32),
    /// By a signal.
    Signal {
        /// Its number.
        number: i32,
        /// Whether memory was dumped.
        core: bool,
    },
}

impl Exit {
    /// Whether it ended with status 0.
    #[must_use]
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }

    fn decode(status: i32) -> Self {
        if libc::WIFSIGNALED(status) {
            Self::Signal { number: libc::WTERMSIG(status), core: libc::WCOREDUMP(status) }
        } else {
            Self::Code(libc::WEXITSTATUS(status))
        }
    }
}

/// A child that has not been waited for, so that its number cannot mean another process. Dropped, it is killed and
/// waited for.
#[derive(Debug)]
pub struct Child {
    pid: i32,
}

impl Child {
    /// `pid` must be a child of this process that nobody else waits for.
    pub(super) fn adopt(pid: i32) -> Self {
        Self { pid }
    }

    /// The process number.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Waits until it ends.
    pub fn wait(self) -> Result<Exit> {
        let pid = self.pid;
        std::mem::forget(self);
        wait_for(pid)
    }

    /// Waits until it ends; what it and its waited-for children used (`wait4(2)`).
    pub fn wait_usage(self) -> Result<(Exit, Usage)> {
        let pid = self.pid;
        std::mem::forget(self);
        let mut status = 0;
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        loop {
            // SAFETY: both pointers are valid and writable for the length of the call.
            if unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) } == pid {
                // SAFETY: zeroed bytes are a valid rusage, and the call filled it.
                return Ok((Exit::decode(status), Usage::from_raw(unsafe { usage.assume_init_ref() })));
            }
            retry_interrupted()?;
        }
    }

    /// How it ended, if it did. After `Some` the child is gone: drop it.
    pub fn try_wait(&mut self) -> Result<Option<Exit>> {
        if self.pid == 0 {
            return Err(Error::refused("wait for a process", "it was waited for before"));
        }
        let mut status = 0;
        // SAFETY: the pointer is valid and writable for the length of the call.
        match check("wait for a process", unsafe { libc::waitpid(self.pid, &raw mut status, libc::WNOHANG) })? {
            0 => Ok(None),
            _ => {
                self.pid = 0;
                Ok(Some(Exit::decode(status)))
            }
        }
    }

    /// Sends it a signal.
    pub fn kill(&self, signal: Signal) -> Result<()> {
        if self.pid == 0 {
            return Err(Error::refused("send a signal", "the process was waited for before"));
        }
        group::send(self.pid, Some(signal))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.pid > 0 {
            // Nothing is left to do where either fails: there is then no such child.
            let _ = group::send(self.pid, Some(Signal::Kill));
            let _ = wait_for(self.pid);
        }
    }
}

/// Waits for a child by number.
pub(super) fn wait_for(pid: i32) -> Result<Exit> {
    let mut status = 0;
    loop {
        // SAFETY: the pointer is valid and writable for the length of the call.
        if unsafe { libc::waitpid(pid, &raw mut status, 0) } == pid {
            return Ok(Exit::decode(status));
        }
        retry_interrupted()?;
    }
}

fn retry_interrupted() -> Result<()> {
    let error = Error::last("wait for a process");
    if error.errno() == Some(libc::EINTR) { Ok(()) } else { Err(error) }
}
