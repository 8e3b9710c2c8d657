//! Single system calls without any wrapper: the operations that the `os.syscall_*` results count.
//!
//! Calls that a C library may answer from a cache (`getpid`, `getppid`) use `syscall(2)`.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use crate::error::{Error, Result, check};

macro_rules! bare {
    ($(#[$doc:meta])* $name:ident, $number:ident, $type:ty) => {
        $(#[$doc])*
        #[inline]
        #[must_use]
        pub fn $name() -> $type {
            // SAFETY: the call takes no arguments, cannot fail and accesses no memory of this process.
            (unsafe { libc::syscall(libc::$number) }) as $type
        }
    };
}

bare!(
    /// Number of this process, from the kernel.
    getpid, SYS_getpid, i32
);
bare!(
    /// Number of the parent, from the kernel.
    getppid, SYS_getppid, i32
);
bare!(
    /// Real user number, from the kernel.
    getuid, SYS_getuid, u32
);
bare!(
    /// Number of the calling thread.
    gettid, SYS_gettid, i32
);

/// Sets the mask of permissions that new files do not get, and returns the previous one.
#[inline]
pub fn umask(mask: u32) -> u32 {
    // SAFETY: takes a number, cannot fail and accesses no memory of this process.
    unsafe { libc::umask(mask as libc::mode_t) as u32 }
}

/// Duplicates a descriptor and closes the duplicate: two system calls.
#[inline]
pub fn dup_close(fd: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: the descriptor is open for the duration of the borrow; nothing else owns the duplicate.
    let copy = check("duplicate a descriptor", unsafe { libc::dup(fd.as_raw_fd()) })?;
    // SAFETY: this function owns the duplicate and closes it once.
    check("close a descriptor", unsafe { libc::close(copy) }).map(|_| ())
}

/// The five calls of one count of the BYTE system-call test: dup, close, getpid, getuid, umask.
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

/// Yields the CPU to another runnable thread, if there is one (`sched_yield`).
#[inline]
pub fn yield_now() {
    // SAFETY: takes no arguments and accesses no memory of this process; it cannot fail on Linux, and a failure has no
    // effect.
    unsafe { libc::sched_yield() };
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
