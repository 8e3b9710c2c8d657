//! Processes whose parents ended before them. The adopting process can wait for them, and only then the kernel counts
//! their resources among those of its children.

use rustix::process::{Pid, child_subreaper, set_child_subreaper};

use crate::error::{Error, Result, check};

/// Makes this process the parent of all descendants whose parents end (`PR_SET_CHILD_SUBREAPER`, prctl(2)). It must
/// wait for them by [`reap_orphans`].
pub fn adopt_orphans() -> Result<()> {
    set_child_subreaper(Some(Pid::INIT)).map_err(|error| Error::os("adopt orphans", error))
}

/// Whether this process adopts orphans. Its children do not, since fork(2) does not pass it on.
#[must_use]
pub fn adopts_orphans() -> bool {
    child_subreaper().is_ok_and(|on| on.is_some())
}

/// Waits for all children of this process that have ended, except those of `own`, which have other waiters. It calls
/// `ended` with the number of each before, while its statistics exist. Returns whether any child is left.
pub fn reap_orphans(own: &[i32], ended: &mut dyn FnMut(i32)) -> Result<bool> {
    const WHAT: &str = "wait for orphans";
    loop {
        // SAFETY: zeros are a valid siginfo_t.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let look = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: the structure is valid for the length of the call, which leaves the child as it is.
        let answer = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, look) };
        match check(WHAT, answer) {
            Err(error) if error.errno() == Some(libc::ECHILD) => return Ok(false),
            Err(error) if error.errno() == Some(libc::EINTR) => continue,
            found => found?,
        };
        // SAFETY: waitid(2) sets this field, or leaves the zero where no child has ended.
        let pid = unsafe { info.si_pid() };
        if pid == 0 || own.contains(&pid) {
            return Ok(true);
        }
        ended(pid);
        // SAFETY: takes numbers; a null pointer means that no status is wanted.
        match unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) } {
            -1 => return Err(Error::last(WHAT)),
            _ => continue,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A separate process does this: waiting for all children would take those of other tests.
    #[test]
    fn orphans_are_waited_for_and_counted_and_own_children_left_alone() {
        // SAFETY: the child makes only calls that are safe after a fork of a process with threads, and ends by _exit.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            // SAFETY: as above.
            unsafe { libc::_exit(i32::from(!adopts())) };
        }
        let mut status = -1;
        // SAFETY: the number is valid for the length of the call.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
    }

    /// Leaves an orphan behind, and has a child that has ended. Allocates nothing.
    fn adopts() -> bool {
        if adopts_orphans() || adopt_orphans().is_err() || !adopts_orphans() {
            return false;
        }
        // SAFETY: only async-signal-safe calls in the children, which end by _exit.
        unsafe {
            let parent = libc::fork();
            if parent == 0 {
                if libc::fork() == 0 {
                    libc::usleep(100_000);
                }
                libc::_exit(0);
            }
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let ended = libc::waitid(libc::P_PID, parent.cast_unsigned(), &raw mut info, libc::WEXITED | libc::WNOWAIT);
            if ended != 0
                || !matches!(reap_orphans(&[parent], &mut |_| {}), Ok(true))
                || libc::waitpid(parent, std::ptr::null_mut(), 0) != parent
            {
                return false;
            }
            // The orphan runs for a while, and is then waited for.
            let mut told = 0;
            for _ in 0..6_000 {
                match reap_orphans(&[], &mut |_| told += 1) {
                    Ok(false) => return told == 1 && libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) == -1,
                    Ok(true) => libc::usleep(10_000),
                    Err(_) => return false,
                };
            }
        }
        false
    }
}
