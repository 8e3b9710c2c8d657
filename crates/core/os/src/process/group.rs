//! Process numbers, process groups, and the signal that children get when their parent dies.

use rustix::process::{
    Pid, getpgrp, kill_process, kill_process_group, set_parent_process_death_signal, test_kill_process,
};

use kernels::signal::Signal;

use crate::error::{Error, Result, check};

/// Number of this process.
#[must_use]
pub fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

/// Number of the parent process; 0 if it is outside this PID namespace.
#[must_use]
pub fn parent_pid() -> i32 {
    std::os::unix::process::parent_id().cast_signed()
}

/// The number of one process; `None` for groups and broadcasts, which `rustix` does not take.
pub(super) fn of_one(pid: i32) -> Option<Pid> {
    if pid > 0 { Pid::from_raw(pid) } else { None }
}

/// Sends a signal to one process; `None` only checks whether it could be sent. `pid` must be above 0: groups and
/// broadcasts are excluded.
pub fn send(pid: i32, signal: Option<Signal>) -> Result<()> {
    let Some(one) = of_one(pid) else {
        return Err(Error::refused("send a signal", format!("{pid} is not the number of one process")));
    };
    let sent = signal.map_or_else(|| test_kill_process(one), |signal| kill_process(one, signal.of_kernel()));
    sent.map_err(|error| Error::os("send a signal", error))
}

/// Sends a signal to all processes of a group, which must not be 0 or 1.
pub(crate) fn kill_group(group: i32, signal: Signal) -> Result<()> {
    const WHAT: &str = "send a signal to a group";
    let Some(leader) = of_one(group).filter(|_| group > 1) else {
        return Err(Error::refused(WHAT, format!("{group} is not a group of ours")));
    };
    kill_process_group(leader, signal.of_kernel()).map_err(|error| Error::os(WHAT, error))
}

/// Makes the kernel kill this process when the thread that created it ends (`PR_SET_PDEATHSIG`). `parent` is the number
/// of the parent before the fork: if it has already ended, this is an error, and the caller should end.
pub fn die_with_parent(parent: i32) -> Result<()> {
    signal_with_parent("be killed with the parent", parent, Signal::Kill)
}

fn signal_with_parent(what: &'static str, parent: i32, signal: Signal) -> Result<()> {
    set_parent_process_death_signal(Some(signal.of_kernel())).map_err(|error| Error::os(what, error))?;
    if parent_pid() == parent { Ok(()) } else { Err(Error::refused(what, "the parent has already ended")) }
}

/// Makes the whole group of this process end with the process that created it, however that ends. This process must
/// lead its group. SIGTERM ends the group too. Programs that this process starts have the default actions, as if this
/// was not called.
pub fn end_group_with_parent(parent: i32) -> Result<()> {
    const WHAT: &str = "end the group with the parent";
    extern "C" fn end_group(_: libc::c_int) {
        // SAFETY: `kill` is async-signal-safe; 0 is the group of this process.
        unsafe { libc::kill(0, libc::SIGKILL) };
    }
    let group = getpgrp().as_raw_nonzero().get();
    if group != own_pid() {
        return Err(Error::refused(WHAT, format!("process {group} leads it")));
    }
    // SAFETY: zeros are a valid sigaction: default action, empty mask, no flags.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = end_group as *const () as usize;
    // SAFETY: the structure is valid for the length of the call, and the handler is async-signal-safe.
    check(WHAT, unsafe { libc::sigaction(libc::SIGTERM, &raw const action, std::ptr::null_mut()) })?;
    signal_with_parent(WHAT, parent, Signal::Terminate)
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
