//! A handler that counts the arrivals of its signal.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result, check};
use crate::signal::Signal;

const SIGNALS: usize = 65;
static ARRIVED: [AtomicU64; SIGNALS] = [const { AtomicU64::new(0) }; SIGNALS];
static TAKEN: [AtomicBool; SIGNALS] = [const { AtomicBool::new(false) }; SIGNALS];

extern "C" fn count(number: libc::c_int) {
    if let Some(counter) = usize::try_from(number).ok().and_then(|index| ARRIVED.get(index)) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// A counting handler for one signal. When dropped, it restores the previous action. It sends to the process that
/// installed it, so a forked child installs its own.
#[derive(Debug)]
pub struct SignalCounter {
    signal: Signal,
    pid: i32,
    previous: RawAction,
}

/// A signal action of C, which has no readable representation.
struct RawAction(libc::sigaction);

impl std::fmt::Debug for RawAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Action")
    }
}

impl SignalCounter {
    /// Installs the handler and sets the count to 0. Only one per signal at a time; system calls that it interrupts are
    /// restarted.
    pub fn install(signal: Signal) -> Result<Self> {
        let slot = slot(signal)?;
        if TAKEN[slot].swap(true, Ordering::AcqRel) {
            return Err(Error::refused("install a signal handler", format!("{signal:?} is already counted")));
        }
        ARRIVED[slot].store(0, Ordering::Relaxed);
        let mut previous = MaybeUninit::<libc::sigaction>::uninit();
        let action = counting();
        // SAFETY: both structures are valid for the length of the call, and the handler is async-signal-safe.
        let answer = unsafe { libc::sigaction(signal.number(), &raw const action, previous.as_mut_ptr()) };
        if let Err(error) = check("install a signal handler", answer) {
            TAKEN[slot].store(false, Ordering::Release);
            return Err(error);
        }
        // SAFETY: the call succeeded, so the previous action was written.
        let previous = RawAction(unsafe { previous.assume_init() });
        Ok(Self { signal, pid: std::process::id().cast_signed(), previous })
    }

    /// Installs the same handler again: one `sigaction`, the operation of `os.signal_install`.
    #[inline]
    pub fn reinstall(&self) -> Result<()> {
        let action = counting();
        // SAFETY: the structure is valid for the length of the call, and the handler is async-signal-safe.
        let answer = unsafe { libc::sigaction(self.signal.number(), &raw const action, ptr::null_mut()) };
        check("install a signal handler", answer).map(|_| ())
    }

    /// Sends the signal to this process. With one thread the handler runs before this returns: the operation of
    /// `os.signal_handle`.
    #[inline]
    pub fn send(&self) -> Result<()> {
        // SAFETY: sends to this process only, where a handler is installed.
        check("send a signal", unsafe { libc::kill(self.pid, self.signal.number()) }).map(|_| ())
    }

    /// Sends signal 0 to this process, which only checks whether it could be sent: the cost of [`SignalCounter::send`]
    /// without a signal.
    #[inline]
    pub fn send_nothing(&self) -> Result<()> {
        // SAFETY: signal 0 is never delivered.
        check("send a signal", unsafe { libc::kill(self.pid, 0) }).map(|_| ())
    }

    /// Number of arrivals of the signal since the handler was installed.
    #[must_use]
    pub fn count(&self) -> u64 {
        ARRIVED[self.signal.number() as usize].load(Ordering::Relaxed)
    }
}

impl Drop for SignalCounter {
    fn drop(&mut self) {
        // SAFETY: the structure was written by the kernel when this handler was installed.
        unsafe { libc::sigaction(self.signal.number(), &raw const self.previous.0, ptr::null_mut()) };
        TAKEN[self.signal.number() as usize].store(false, Ordering::Release);
    }
}

fn counting() -> libc::sigaction {
    // SAFETY: zeros are a valid sigaction: default action, empty mask, no flags.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = count as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    action
}

fn slot(signal: Signal) -> Result<usize> {
    match signal {
        Signal::Kill | Signal::Stop => Err(Error::refused("install a signal handler", "this signal cannot be handled")),
        _ => Ok(signal.number() as usize),
    }
}
