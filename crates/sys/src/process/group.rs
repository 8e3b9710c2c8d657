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

/// Makes the whole group of this process end with the process that created it, however that ends. This process must
/// lead its group. SIGTERM ends the group too. Programs that this process starts have the default actions, as if this
/// was not called.
#[cfg(target_os = "linux")]
pub fn end_group_with_parent(parent: i32) -> Result<()> {
    const WHAT: &str = "end the group with the parent";
    extern "C" fn end_group(_: libc::c_int) {
        // SAFETY: `kill` is async-signal-safe; 0 is the group of this process.
        unsafe { libc::kill(0, libc::SIGKILL) };
    }
    // SAFETY: takes no arguments and cannot fail.
    let group = unsafe { libc::getpgrp() };
    if group != own_pid() {
        return Err(Error::refused(WHAT, format!("process {group} leads it")));
    }
    // SAFETY: zeros are a valid sigaction: default action, empty mask, no flags.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = end_group as *const () as usize;
    // SAFETY: the structure is valid for the length of the call, and the handler is async-signal-safe.
    check(WHAT, unsafe { libc::sigaction(libc::SIGTERM, &raw const action, std::ptr::null_mut()) })?;
    // SAFETY: this option takes one number and accesses no memory of this process.
    check(WHAT, unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong) })?;
    if parent_pid() == parent { Ok(()) } else { Err(Error::refused(WHAT, "the parent has already ended")) }
}

/// Makes the whole group of this process end with the process that created it.
#[cfg(not(target_os = "linux"))]
pub fn end_group_with_parent(_parent: i32) -> Result<()> {
    Err(Error::not_here("end the group with the parent"))
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
