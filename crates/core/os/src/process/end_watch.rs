//! Detects the end of a child without waiting for it, so that its number remains valid.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use kernels::poll::PollSet;
use rustix::process::{PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};

use crate::error::{Error, Result};
use crate::process::group::of_one;

/// Interval of checks if no descriptor reports the end.
const BLIND: Duration = Duration::from_millis(5);

/// Waits for a child of the standard library with a time limit: `None` if it is still running after the time, or cannot
/// be waited for.
pub fn wait_within(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    if let Ok(Some(status)) = child.try_wait() {
        return Some(status);
    }
    match EndWatch::new(child.id().cast_signed()).ends_within(time) {
        Ok(true) => child.wait().ok(),
        _ => None,
    }
}

/// Watches for the end of a child of this process.
#[derive(Debug)]
pub struct EndWatch {
    pid: i32,
    /// Readable once the child has ended (`pidfd_open(2)`, Linux 5.3); absent if the system does not have it.
    descriptor: Option<OwnedFd>,
}

impl EndWatch {
    /// Watches a child that was not waited for yet.
    #[must_use]
    pub fn new(pid: i32) -> Self {
        Self { pid, descriptor: descriptor_of(pid) }
    }

    /// A descriptor that is readable once the child has ended, for a set that is polled.
    #[must_use]
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(AsFd::as_fd)
    }

    /// Whether it ends within a time. This does not wait for it: it remains a child.
    ///
    /// # Errors
    /// When the system does not report it.
    pub fn ends_within(&self, time: Duration) -> Result<bool> {
        let deadline = Instant::now() + time;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if self.ended()? || left.is_zero() {
                return self.ended();
            }
            match self.descriptor() {
                None => kernels::timer::sleep(left.min(BLIND)),
                Some(descriptor) => {
                    let mut set = PollSet::new();
                    set.add(descriptor);
                    match set.wait(Some(left)) {
                        Err(error) if error.errno() != Some(libc::EINTR) => return Err(error),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Whether it has ended. This does not wait for it: it remains a child.
    ///
    /// # Errors
    /// When the system does not report it.
    pub fn ended(&self) -> Result<bool> {
        if let Some(descriptor) = self.descriptor() {
            let mut set = PollSet::new();
            set.add(descriptor);
            return match set.wait(Some(Duration::ZERO)) {
                // A signal also interrupts a poll without a timeout if nothing is ready (poll(2)).
                Err(error) if error.errno() == Some(libc::EINTR) => Ok(false),
                looked => looked.map(|ready| ready > 0),
            };
        }
        let looked = of_one(self.pid).ok_or(rustix::io::Errno::CHILD).and_then(|pid| {
            waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT)
        });
        match looked {
            Ok(told) => Ok(told.is_some()),
            // Other code waited for it, so it has ended.
            Err(rustix::io::Errno::CHILD) => Ok(true),
            Err(error) => Err(Error::os("watch a process", error)),
        }
    }
}

fn descriptor_of(pid: i32) -> Option<OwnedFd> {
    pidfd_open(of_one(pid)?, PidfdFlags::empty()).ok()
}
