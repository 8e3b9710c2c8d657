//! Blocking signals.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use crate::error::{Error, Result};
use crate::signal::Signal;

/// Signals blocked in the calling thread. When dropped, it restores the previous mask, and pending signals are
/// delivered.
pub struct Blocked {
    previous: libc::sigset_t,
    /// The mask belongs to one thread, in which the guard must stay.
    here: PhantomData<*const ()>,
}

impl Blocked {
    /// Blocks these signals in this thread, in addition to those already blocked.
    pub fn new(signals: &[Signal]) -> Result<Self> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        let mut previous = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigemptyset` initialises the set, `sigaddset` gets valid numbers, and the kernel writes the previous
        // mask on success.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in signals {
                libc::sigaddset(set.as_mut_ptr(), signal.number());
            }
            match libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), previous.as_mut_ptr()) {
                0 => Ok(Self { previous: previous.assume_init(), here: PhantomData }),
                errno => Err(Error::os("hold signals back", std::io::Error::from_raw_os_error(errno))),
            }
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the mask was written by the kernel for this thread, which the guard cannot leave.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.previous, ptr::null_mut()) };
    }
}

impl std::fmt::Debug for Blocked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Blocked")
    }
}
