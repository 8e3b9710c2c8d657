//! Single system calls with nothing around them: the operations that the `os.syscall_*` figures count.
//!
//! Those that a C library may answer from a copy (`getpid`, `getppid`) go through `syscall(2)` on Linux.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use crate::error::{Error, Result, check};

macro_rules! bare {
    ($(#[$doc:meta])* $name:ident, $number:ident, $type:ty) => {
        $(#[$doc])*
        #[inline]
        #[must_use]
        pub fn $name() -> $type {
            #[cfg(target_os = "linux")]
            // SAFETY: the call takes no arguments, cannot fail and touches no memory of ours.
            return unsafe { libc::syscall(libc::$number) } as $type;
            #[cfg(not(target_os = "linux"))]
            // SAFETY: the call takes no arguments, cannot fail and touches no memory of ours.
            return unsafe { libc::$name() } as $type;
        }
    };
}

bare!(
    /// Number of this process, asked of the kernel.
    getpid, SYS_getpid, i32
);
bare!(
    /// Number of the parent, asked of the kernel.
    getppid, SYS_getppid, i32
);
bare!(
    /// Real user number, asked of the kernel.
    getuid, SYS_getuid, u32
);
#[cfg(target_os = "linux")]
bare!(
    /// Number of the calling thread.
    gettid, SYS_gettid, i32
);

/// Sets the mask of permissions that new files lose, and returns the previous one.
#[inline]
pub fn umask(mask: u32) -> u32 {
    // SAFETY: takes a number, cannot fail and touches no memory of ours.
    unsafe { libc::umask(mask as libc::mode_t) as u32 }
}

/// Duplicates a descriptor and closes the duplicate: two system calls.
#[inline]
pub fn dup_close(fd: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: the descriptor is open for the borrow's length; the duplicate belongs to us alone.
    let copy = check("duplicate a descriptor", unsafe { libc::dup(fd.as_raw_fd()) })?;
    // SAFETY: the duplicate is ours and is closed once.
    check("close a descriptor", unsafe { libc::close(copy) }).map(|_| ())
}

/// The five calls that the BYTE system-call test makes a count: dup, close, getpid, getuid, umask.
#[inline]
pub fn byte_mix(fd: BorrowedFd<'_>) -> Result<()> {
    dup_close(fd)?;
    std::hint::black_box((getpid(), getuid()));
    umask(0o22);
    Ok(())
}

/// Writes one byte. 0 bytes written is an error.
#[inline]
pub fn write_byte(fd: impl AsFd, byte: u8) -> Result<()> {
    // SAFETY: the pointer is to one readable byte for the length of the call.
    match unsafe { libc::write(fd.as_fd().as_raw_fd(), (&raw const byte).cast(), 1) } {
        1 => Ok(()),
        0 => Err(Error::refused("write a byte", "nothing was taken")),
        _ => Err(Error::last("write a byte")),
    }
}

/// Gives the CPU to another runnable thread, where there is one (`sched_yield`).
#[inline]
pub fn yield_now() {
    // SAFETY: takes no arguments and touches no memory of ours; it cannot fail on Linux, and failing does no harm.
    unsafe { libc::sched_yield() };
}

/// A question for `sysconf(3)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemLimit {
    /// Bytes of arguments and environment of a new program.
    ArgumentBytes,
    /// Open files of a process.
    OpenFiles,
    /// Clock ticks a second, in which `/proc` counts CPU time.
    ClockTicks,
    /// Processors configured.
    ProcessorsConfigured,
    /// Processors online.
    ProcessorsOnline,
    /// Pages of physical memory.
    PhysicalPages,
}

/// Asks `sysconf(3)`; `None` where there is no limit or the question is unknown.
#[must_use]
pub fn sysconf(limit: SystemLimit) -> Option<u64> {
    let name = match limit {
        SystemLimit::ArgumentBytes => libc::_SC_ARG_MAX,
        SystemLimit::OpenFiles => libc::_SC_OPEN_MAX,
        SystemLimit::ClockTicks => libc::_SC_CLK_TCK,
        SystemLimit::ProcessorsConfigured => libc::_SC_NPROCESSORS_CONF,
        SystemLimit::ProcessorsOnline => libc::_SC_NPROCESSORS_ONLN,
        SystemLimit::PhysicalPages => libc::_SC_PHYS_PAGES,
    };
    // SAFETY: takes a number and touches no memory of ours.
    u64::try_from(unsafe { libc::sysconf(name) }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Read;

    #[test]
    fn the_kernel_agrees_with_the_library() {
        assert_eq!(getpid() as u32, std::process::id());
        assert!(getppid() >= 0);
        assert!(sysconf(SystemLimit::ProcessorsOnline).unwrap() >= 1);
        assert!(sysconf(SystemLimit::ClockTicks).unwrap() >= 1);
        yield_now();
    }

    #[test]
    fn bytes_go_through_a_pipe() {
        let (from, to) = std::io::pipe().unwrap();
        write_byte(&to, 7).unwrap();
        let mut byte = [0];
        assert_eq!((&from).read(&mut byte).unwrap(), 1);
        assert_eq!(byte, [7]);
        byte_mix(from.as_fd()).unwrap();
        drop(to);
        assert_eq!((&from).read(&mut byte).unwrap(), 0);
        let read_only = File::open("/dev/null").unwrap();
        assert!(write_byte(&read_only, 0).is_err());
    }
}
