//! Protection faults: writing to a read-only page, with a handler that runs for each fault.
//!
//! A handler that returns without changes makes the processor repeat the faulting store, which faults again. One store
//! thus causes any number of faults, each one trap, one delivery and one return. Only the last handler makes the page
//! writable.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::error::{Error, Result, check};
use crate::memory::mapping::Mapping;
use crate::memory::page_size;

static TAKEN: AtomicBool = AtomicBool::new(false);
static PAGE: AtomicUsize = AtomicUsize::new(0);
static SIZE: AtomicUsize = AtomicUsize::new(0);
static LEFT: AtomicU64 = AtomicU64::new(0);
static COUNT: AtomicU64 = AtomicU64::new(0);

extern "C" fn on_fault(number: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo to an SA_SIGINFO handler, and this signal carries an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let (page, size) = (PAGE.load(Ordering::Relaxed), SIZE.load(Ordering::Relaxed));
    if address < page || address - page >= size {
        // A fault elsewhere: with the default action, the repeated instruction ends the process as it should.
        // SAFETY: `signal` is async-signal-safe, and the default action is always valid.
        unsafe { libc::signal(number, libc::SIG_DFL) };
        return;
    }
    COUNT.fetch_add(1, Ordering::Relaxed);
    if LEFT.fetch_sub(1, Ordering::Relaxed) <= 1 {
        // SAFETY: the page belongs to this module; `mprotect` is one system call that needs no lock.
        unsafe { libc::mprotect(page as *mut libc::c_void, size, libc::PROT_READ | libc::PROT_WRITE) };
    }
}

/// A page to fault on, with its handler installed. Only one at a time in a process; when dropped, it restores the
/// previous handler.
#[derive(Debug)]
pub struct ProtectionFault {
    page: Mapping,
    previous: Previous,
}

struct Previous(libc::sigaction);

impl std::fmt::Debug for Previous {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Previous")
    }
}

impl ProtectionFault {
    /// Maps the page, makes it present, and installs the handler.
    pub fn prepare() -> Result<Self> {
        if TAKEN.swap(true, Ordering::AcqRel) {
            return Err(Error::refused("prepare protection faults", "another preparation is in use"));
        }
        Self::install().inspect_err(|_| TAKEN.store(false, Ordering::Release))
    }

    fn install() -> Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
        let page = Mapping::new(page_size(), libc::PROT_READ | libc::PROT_WRITE, flags, -1)?;
        // SAFETY: the page is mapped, writable and owned here alone.
        unsafe { page.start().write_volatile(1) };
        PAGE.store(page.start() as usize, Ordering::Relaxed);
        SIZE.store(page.len(), Ordering::Relaxed);
        // SAFETY: zeros are a valid sigaction: default action, empty mask, no flags.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        let mut previous = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: both structures are valid, and the handler is async-signal-safe.
        check("install a fault handler", unsafe {
            libc::sigaction(libc::SIGSEGV, &raw const action, previous.as_mut_ptr())
        })?;
        // SAFETY: it was written by the successful call above.
        let previous = Previous(unsafe { previous.assume_init() });
        Ok(Self { page, previous })
    }

    /// Causes `count` protection faults (at least one) and returns the count of the handler. It also makes two
    /// `mprotect` calls, for any count.
    pub fn raise(&mut self, count: u64) -> Result<u64> {
        self.page.protect(0, self.page.len(), libc::PROT_READ)?;
        COUNT.store(0, Ordering::Relaxed);
        LEFT.store(count.max(1), Ordering::SeqCst);
        // SAFETY: the page is owned here and no reference to it exists. It is read-only, so the store traps until the
        // handler has counted enough and made the page writable; then it completes.
        unsafe { self.page.start().write_volatile(2) };
        Ok(COUNT.load(Ordering::SeqCst))
    }
}

impl Drop for ProtectionFault {
    fn drop(&mut self) {
        // SAFETY: the action was written by the kernel when this handler was installed.
        unsafe { libc::sigaction(libc::SIGSEGV, &raw const self.previous.0, ptr::null_mut()) };
        PAGE.store(0, Ordering::Relaxed);
        SIZE.store(0, Ordering::Relaxed);
        TAKEN.store(false, Ordering::Release);
    }
}
