//! Process numbers, process groups, and the fate of children when their parent dies.

use crate::error::{Error, Result, check};
use crate::signal::Signal;

/// Number of this process.
#[must_use]
pub fn own_pid() -> i32 {
    // SAFETY: takes no arguments and cannot fail.
    unsafe { libc::getpid() }
}

/// Number of the parent process; 0 if it is outside this PID namespace.
#[must_use]
pub fn parent_pid() -> i32 {
    // SAFETY: takes no arguments and cannot fail.
    unsafe { libc::getppid() }
}

/// Sends a signal to one process; `None` only checks whether it could be sent. `pid` must be above 0: groups and
/// broadcasts are excluded.
pub fn send(pid: i32, signal: Option<Signal>) -> Result<()> {
    if pid <= 0 {
        return Err(Error::refused("send a signal", format!("{pid} is not the number of one process")));
    }
    // SAFETY: takes numbers and accesses no memory of this process; handlers are installed by `signal` only.
    check("send a signal", unsafe { libc::kill(pid, signal.map_or(0, Signal::number)) }).map(|_| ())
}

/// Sends a signal to all processes of a group, which must not be 0 or 1.
pub fn kill_group(group: i32, signal: Signal) -> Result<()> {
    if group <= 1 {
        return Err(Error::refused("send a signal to a group", format!("{group} is not a group of ours")));
    }
    // SAFETY: takes numbers and accesses no memory of this process.
    check("send a signal to a group", unsafe { libc::kill(-group, signal.number()) }).map(|_| ())
}

/// Makes the kernel kill this process when the thread that created it ends (`PR_SET_PDEATHSIG`). `parent` is the number
/// of the parent before the fork: if it has already ended, this is an error, and the caller should end.
#[cfg(target_os = "linux")]
pub fn die_with_parent(parent: i32) -> Result<()> {
    // SAFETY: this option takes one number and accesses no memory of this process.
    check("be killed with the parent", unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) })?;
    if parent_pid() == parent {
        Ok(())
    } else {
        Err(Error::refused("be killed with the parent", "the parent has already ended"))
    }
}

/// Makes the kernel kill this process when the thread that created it ends.
#[cfg(not(target_os = "linux"))]
pub fn die_with_parent(_parent: i32) -> Result<()> {
    Err(Error::not_here("be killed with the parent"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_group_kills_nothing() {
        assert!(send(0, Some(Signal::Kill)).is_err());
        assert!(send(-1, Some(Signal::Kill)).is_err());
        assert!(kill_group(0, Signal::Kill).is_err());
        assert!(kill_group(1, Signal::Kill).is_err());
        send(own_pid(), None).unwrap();
    }
}
