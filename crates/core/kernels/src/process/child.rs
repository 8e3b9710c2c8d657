//! A child process, which is waited for exactly once.

use std::ptr;

use crate::error::{Error, Result};

/// How a process ended (`wait(2)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessExit {
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

impl ProcessExit {
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

/// A child that has not been waited for, so that its number cannot refer to another process. When dropped, it is killed
/// and waited for.
#[derive(Debug)]
pub struct Child {
    pid: i32,
    waited_for: bool,
}

impl Child {
    /// `pid` must be a child of this process that no other code waits for.
    pub(super) fn adopt(pid: i32) -> Self {
        Self { pid, waited_for: false }
    }

    /// The process number; once it has ended, another process may get it.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Waits until it ends.
    pub fn wait(mut self) -> Result<ProcessExit> {
        self.finish(None)
    }

    /// Waits until it ends; returns the page faults without I/O of it and its waited-for children (`wait4(2)`).
    pub fn wait_faults(mut self) -> Result<(ProcessExit, u64)> {
        // SAFETY: zeros are a valid rusage.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        let exit = self.finish(Some(&mut usage))?;
        Ok((exit, usage.ru_minflt as u64))
    }

    fn finish(&mut self, usage: Option<&mut libc::rusage>) -> Result<ProcessExit> {
        wait_for(self.pid, usage).inspect(|_| self.waited_for = true)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.waited_for {
            // If either fails, there is no such child and nothing remains to do.
            // SAFETY: sends to a child that was not waited for, so that its number is of no other process.
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
            let _ = wait_for(self.pid, None);
        }
    }
}

/// Waits for a child by number, retrying after interruptions.
pub(super) fn wait_for(pid: i32, usage: Option<&mut libc::rusage>) -> Result<ProcessExit> {
    let mut status = 0;
    let usage = usage.map_or(ptr::null_mut(), ptr::from_mut);
    loop {
        // SAFETY: the status is writable, the usage null or writable, for the length of the call.
        if unsafe { libc::wait4(pid, &raw mut status, 0, usage) } == pid {
            return Ok(ProcessExit::decode(status));
        }
        let error = Error::last("wait for a process");
        if error.errno() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}
