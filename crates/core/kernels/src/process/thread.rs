//! A thread of the C library alone.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;

use crate::error::{Error, Result};

/// The function of a thread, and its argument, which the result replaces.
struct ThreadCall {
    body: fn(usize) -> usize,
    value: usize,
}

/// Starts a thread by `pthread_create(3)`, which calls `body` with `argument`, joins it and returns the result: one
/// operation of `os.thread_create`. Threads of Rust's standard library do more: each looks up its own stack, and maps
/// another one to report its overflow. `body` must not panic, which would end the process.
#[inline]
pub fn run_bare_thread(body: fn(usize) -> usize, argument: usize) -> Result<usize> {
    let mut call = ThreadCall { body, value: argument };
    let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: the handle is writable; `perform` gets the call, which lives until the thread was joined below.
    let refused = unsafe { libc::pthread_create(thread.as_mut_ptr(), ptr::null(), perform, (&raw mut call).cast()) };
    succeeded("start a thread", refused)?;
    // SAFETY: the thread was started, so its handle was filled; it is joined once, and by nothing else.
    succeeded("join a thread", unsafe { libc::pthread_join(thread.assume_init(), ptr::null_mut()) })?;
    Ok(call.value)
}

extern "C" fn perform(call: *mut c_void) -> *mut c_void {
    // SAFETY: the pointer is to the call of `run_bare_thread`, which nothing else accesses until this thread was
    // joined.
    let call = unsafe { &mut *call.cast::<ThreadCall>() };
    call.value = (call.body)(call.value);
    ptr::null_mut()
}

/// The functions of threads return their error instead of leaving it in `errno`.
fn succeeded(what: &'static str, error: i32) -> Result<()> {
    if error == 0 { Ok(()) } else { Err(Error::os(what, io::Error::from_raw_os_error(error))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_returns_what_it_computed() {
        assert_eq!(run_bare_thread(|value| value * value, 12).unwrap(), 144);
        let own = std::thread::current().id();
        assert_eq!(run_bare_thread(|value| value + 1, 0).unwrap(), 1);
        assert_eq!(std::thread::current().id(), own);
    }

    /// A thread of the standard library has a stack for signals, which takes most of the calls of its start.
    #[test]
    fn it_has_no_stack_for_signals() {
        fn has_one(_: usize) -> usize {
            let mut stack = MaybeUninit::<libc::stack_t>::zeroed();
            // SAFETY: asks for the present stack and changes nothing; zeros are a valid value.
            let flags = unsafe {
                assert_eq!(libc::sigaltstack(ptr::null(), stack.as_mut_ptr()), 0);
                stack.assume_init().ss_flags
            };
            usize::from(flags & libc::SS_DISABLE == 0)
        }
        assert_eq!(run_bare_thread(has_one, 0).unwrap(), 0);
    }
}
